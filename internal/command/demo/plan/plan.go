package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Days is the length of a plan.
const Days = 180

// Company is a company that contacts work for.
type Company struct {
	Name, Domain, Industry, Size string
	At                           time.Time
}

// Contact is a contact as it is created.
type Contact struct {
	Email, FirstName, LastName string
	Title, Phone, Source, Zone string // "": none
	Stage                      string
	Tags                       []string
	Attributes                 map[string]any
	Company                    int // index of a company, or None
	At                         time.Time
}

// Deal is a deal as it is created: open, in the first stage of its pipeline.
type Deal struct {
	Name     string
	Contact  int // index of a contact
	Renewal  bool
	Amount   int64 // minor units
	Currency string
	Expected time.Time
	At       time.Time
}

// Note is a note about a contact and perhaps a deal.
type Note struct {
	Body    string
	Contact int
	Deal    int // index of a deal, or None
	At      time.Time
}

// Task is a task about a contact and perhaps a deal.
type Task struct {
	Title    string
	Priority string
	Contact  int
	Deal     int // index of a deal, or None
	Due      time.Time
	At       time.Time
}

// None is the index of an object that does not exist.
const None = -1

// Kind is the kind of an action.
type Kind int

// The kinds of actions, in the order in which actions at the same moment happen.
const (
	CreateCompany Kind = iota
	CreateContact
	CreateDeal
	MoveDeal
	CloseDeal
	MoveContact
	WriteNote
	CreateTask
	CompleteTask
)

// Action is one thing that a person did.
type Action struct {
	At   time.Time
	Kind Kind
	Of   int // index of the object in its slice of the plan
	// Step is the number of a MoveDeal's open stage in its pipeline, from 0.
	Step int
	// Stage and Tag are those of a contact after a MoveContact. Tag is added to the contact's tags, if it is not "".
	Stage, Tag string
	Won        bool   // of a CloseDeal
	Reason     string // of a lost deal
}

// Plan is half a year. Its actions are sorted by time. An action refers only to objects that earlier actions create.
type Plan struct {
	Companies []Company
	Contacts  []Contact
	Deals     []Deal
	Notes     []Note
	Tasks     []Task
	Actions   []Action
}

// Make returns the plan of the half year that ends at until. Equal arguments give equal plans.
func Make(seed uint64, contacts int, until time.Time) *Plan {
	m := &maker{
		Rand: rand.New(rand.NewPCG(seed, uint64(contacts))), //nolint:gosec // made-up people, no secrets
		Plan: &Plan{}, until: until.UTC().Truncate(time.Second),
		used: map[string]bool{},
	}
	m.makeCompanies(min(max(contacts/12, 1), len(firstWords)*len(secondWords)))
	m.makeContacts(contacts)
	m.makeDeals()
	m.makeActivities()
	slices.SortStableFunc(m.Actions, func(a, b Action) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Kind, b.Kind))
	})
	m.dropSetbacks()

	return m.Plan
}

// dropSetbacks drops the moves of contacts that marketing would have made while sales had them already.
func (m *maker) dropSetbacks() {
	sold := map[int]bool{} // contacts with a deal, open or won
	m.Actions = slices.DeleteFunc(m.Actions, func(a Action) bool {
		if a.Kind != MoveContact {
			return false
		}

		switch a.Stage {
		case "opportunity", "customer", "evangelist":
			sold[a.Of] = true
		case "lead":
			if a.Tag == "" { // after a lost deal
				sold[a.Of] = false
			}
		}

		return sold[a.Of] && (a.Stage == "lead" || a.Stage == "mql")
	})
}

// maker builds a plan.
type maker struct {
	*rand.Rand
	*Plan
	until time.Time
	used  map[string]bool // addresses
}

// addAction adds an action, unless it would happen after the end of the plan. It reports whether it was added.
func (m *maker) addAction(a Action) bool {
	if a.At.After(m.until) {
		return false
	}
	m.Actions = append(m.Actions, a)
	return true
}

// chance reports true in percent of all cases.
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

// between returns a number from low to high.
func (m *maker) between(low, high int) int { return low + m.IntN(high-low+1) }

// pickOne returns one of the values.
func pickOne[T any](m *maker, from []T) T { return from[m.IntN(len(from))] }

// share is a value with its weight among others.
type share[T any] struct {
	value  T
	weight int
}

// drawWeighted returns one of the values, by their weights.
func drawWeighted[T any](m *maker, from []share[T]) T {
	sum := 0
	for _, s := range from {
		sum += s.weight
	}

	at := m.IntN(sum)
	for _, s := range from {
		if at -= s.weight; at < 0 {
			return s.value
		}
	}

	return from[0].value
}
