package steps

import "github.com/funnelwork/funnelwork/internal/filter"

// Facts is what became of the mails of an enrolment, for its conditions.
type Facts struct {
	Replied bool     // a person replied
	Clicked bool     // a person followed a link
	Links   []string // targets of the links that a person followed
	Bounced bool
}

// Names of facts in filters.
const (
	factReplied = "replied"
	factClicked = "clicked"
	factLink    = "clicked_link"
	factBounced = "bounced"
)

// FactTypes returns the types of the facts, by their names in filters.
func FactTypes() map[string]filter.Type {
	return map[string]filter.Type{
		factReplied: filter.Boolean, factClicked: filter.Boolean, factLink: filter.Keys, factBounced: filter.Boolean,
	}
}

// Record returns the record that the filters of conditions match: the contact with the facts.
func Record(contact filter.Record, f Facts) filter.Record { return record{contact, f} }

type record struct {
	filter.Record
	facts Facts
}

// Value returns a fact, or the contact's value of the field.
func (r record) Value(field string) any {
	switch field {
	case factReplied:
		return r.facts.Replied
	case factClicked:
		return r.facts.Clicked
	case factLink:
		return r.facts.Links
	case factBounced:
		return r.facts.Bounced
	default:
		return r.Record.Value(field)
	}
}
