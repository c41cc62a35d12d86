package contacts

import (
	"slices"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Filter selects the contacts of a list. The zero Filter selects every live contact.
type Filter struct {
	Stages        []string // any of these; the same for Tags and Segments
	Tags          []string
	Segments      []string // keys
	Words         []string // folded, see Words: each is a prefix of a word of name, email or company
	ExternalID    *externalid.Key
	Company       *id.ID
	Owner         *id.ID
	MinScore      *float64
	CreatedAfter  *time.Time     // exclusive
	CreatedBefore *time.Time     // exclusive
	Archived      bool           // select archived contacts instead of live ones
	Where         *filter.Filter // an additional filter, see ParseFilter; may be nil
	// begun is "", or the order of creation of a page after a position. Bounds that hold for every later contact are
	// omitted.
	begun Sort
}

// Sort is an order of a list, as the API parameter names it. Ties are broken by id.
type Sort string

// Orders of a list.
const (
	Newest   Sort = "-created_at"
	Oldest   Sort = "created_at"
	Highest  Sort = "-lead_score"
	Lowest   Sort = "lead_score"
	LastName Sort = "last_name"
	Email    Sort = "email"
)

// Position is a position in a sorted list: just after the contact ID, which has the sort key Key. Its form is private
// to the list. A Position of one Sort is an error with another.
type Position struct {
	Key string `json:"k"`
	ID  id.ID  `json:"i"`
}

// Position returns the position of r in the order.
func (s Sort) Position(r *Row) Position { return Position{Key: s.rowKey(r), ID: r.ID} }

// rowKey returns the sort key of r as text.
func (s Sort) rowKey(r *Row) string {
	switch s {
	case Highest, Lowest:
		return strconv.FormatFloat(r.LeadScore, 'g', -1, 64)
	case LastName:
		return compare.Text(r.LastName)
	case Email:
		return compare.Address(r.Contact.Email)
	case Newest, Oldest:
	}
	return strconv.FormatInt(r.CreatedAt.UnixMicro(), 10)
}

func (s Sort) parseKey(key string) (any, error) {
	switch s {
	case Highest, Lowest:
		return strconv.ParseFloat(key, 64)
	case LastName, Email:
		return key, nil
	case Newest, Oldest:
	}
	us, err := strconv.ParseInt(key, 10, 64)
	return time.UnixMicro(us).UTC(), err
}

func (s Sort) direction() string {
	if s == Newest || s == Highest {
		return " DESC"
	}
	return ""
}

// neededConjuncts returns the conjuncts of the filter, without those that the position makes redundant.
func (f *Filter) neededConjuncts() []*filter.Filter {
	if f.Where == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Where.Conjuncts()), func(part *filter.Filter) bool {
		field, op, _, ok := part.Term()
		return ok && field == "created_at" &&
			(f.begun == Newest && (op == filter.Lt || op == filter.Lte) ||
				f.begun == Oldest && (op == filter.Gt || op == filter.Gte))
	})
}

// afterPosition returns f for a page after a position, without the bounds on created_at that every later contact
// satisfies. Otherwise the index scan would start at that bound instead of the position.
func (f *Filter) afterPosition(s Sort, after *Position) *Filter {
	if after == nil || s != Newest && s != Oldest {
		return f
	}
	on := *f
	on.begun = s
	if s == Newest {
		on.CreatedBefore = nil
	} else {
		on.CreatedAfter = nil
	}
	return &on
}

func (f *Filter) withoutWords() *Filter {
	rest := *f
	rest.Words = nil
	return &rest
}

// needsScores reports whether the list needs contact_score rows for its conditions or its order.
func (f *Filter) needsScores(s Sort) bool {
	return s == Highest || s == Lowest || f.MinScore != nil ||
		f.Where != nil && slices.Contains(f.Where.Fields(), "lead_score")
}
