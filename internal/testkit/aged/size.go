package aged

// Size is the number of orgs of each class and of their contacts.
type Size struct {
	Name    string
	Orgs    int // all of them, one huge and one grown included
	Middles int
	Smalls  int
	// Contacts of an org of each class. A tiny org has one to nine.
	Huge, Middle, Grown, Small int
	Behind, Ahead              int // day partitions before and after today
	Seed                       int
}

// The sizes. In Test and Bench the grown org's contacts are about 4 % of all; Huge is ten times Middle in Test.
var (
	Test = Size{
		Name: "test", Orgs: 600, Middles: 3, Smalls: 20, Huge: 14_000, Middle: 1_400, Grown: 1_100, Small: 140,
		Behind: 31, Ahead: 8, Seed: 1,
	}
	// TestOfAYear is Test with partitions of a year.
	TestOfAYear = func() Size {
		s := Test
		s.Name, s.Behind = "year", 365
		return s
	}()
	Bench = Size{
		Name: "bench", Orgs: 2_006, Middles: 10, Smalls: 200, Huge: 300_000, Middle: 20_000, Grown: 25_000, Small: 500,
		Behind: 31, Ahead: 8, Seed: 1,
	}
)

// State is what the planner knows of a database.
type State string

// The states of the statistics. In each of them today's partitions are not analyzed.
const (
	Analyzed State = "analyzed" // all rows were in
	Half     State = "half"     // half of each org's contacts, and what hangs on them, were in
	Grew     State = "grew"     // all rows were in but those of the grown org, which had ten contacts
)

// States are all states.
func States() []State { return []State{Analyzed, Half, Grew} }
