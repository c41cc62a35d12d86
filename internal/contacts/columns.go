package contacts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The tables below feed every statement that reads or writes contacts. To add an optional text, add a line to texts, a
// field to Contact and to Patch, a member to the API's body, and a migration.

// Text is an optional one-line text of a contact. Its column has a folded column beside it. Patches, bulk updates,
// filters, imports, exports and merges handle every Text alike.
type Text struct {
	Name    string                  // of the column, the JSON member and the field of a filter or file
	Of      func(*Contact) **string // returns the address of the value
	In      func(*Patch) *member    // returns the address of the patch's member
	longest int                     // maximum number of characters
}

// member is a text member of a patch.
type member = wire.Field[string]

var texts = []Text{
	text("phone", func(c *Contact) **string { return &c.Phone }, func(p *Patch) *member { return &p.Phone }).
		upTo(maxPhone),
	text("job_title", func(c *Contact) **string { return &c.JobTitle }, func(p *Patch) *member { return &p.JobTitle }),
	text("source", func(c *Contact) **string { return &c.Source }, func(p *Patch) *member { return &p.Source }),
	text("time_zone", func(c *Contact) **string { return &c.TimeZone }, func(p *Patch) *member { return &p.TimeZone }).
		upTo(maxKey),
}

func text(name string, of func(*Contact) **string, in func(*Patch) *member) Text {
	return Text{Name: name, Of: of, In: in, longest: maxName}
}

func (t Text) upTo(longest int) Text {
	t.longest = longest
	return t
}

// Texts returns the optional texts of a contact. The caller must not change the slice.
func Texts() []Text { return texts }

// TextNames returns the names of the optional texts.
func TextNames() []string {
	names := make([]string, len(texts))
	for i := range texts {
		names[i] = texts[i].Name
	}
	return names
}

// TextNamed returns the optional text with the name, or nil if there is none.
func TextNamed(name string) *Text {
	for i := range texts {
		if texts[i].Name == name {
			return &texts[i]
		}
	}
	return nil
}

// contactColumns lists the columns of contact that hold a contact's fields, or are derived from them, in the order in
// which statements name them.
var contactColumns = slices.Concat(
	[]column{
		stored("id", "uuid", func(c *Contact) *id.ID { return &c.ID }).insertOnly(),
		stored("email", "text", func(c *Contact) *string { return &c.Email }),
		derived("email_folded", "text", func(w *written) string { return w.address }),
		stored("first_name", "text", func(c *Contact) *string { return &c.FirstName }),
		stored("last_name", "text", func(c *Contact) *string { return &c.LastName }),
		derived("last_name_folded", "text", func(w *written) string { return Fold(w.LastName) }),
	},
	eachText(func(t *Text) column { return stored(t.Name, "text", t.Of) }),
	[]column{
		stored("company_id", "uuid", func(c *Contact) **id.ID { return &c.CompanyID }),
		stored("stage", "text", func(c *Contact) *string { return &c.Stage }),
		stored("tags", "text", func(c *Contact) *[]string { return &c.Tag }).
			cast("text[]", arrayOf(func(w *written) string { return arrayLiteral(w.Tag) })),
		{
			name: "attributes", element: "text", conversion: "::jsonb",
			value:  func(w *written) any { return w.attributes },
			array:  arrayOf(func(w *written) string { return w.attributes }),
			target: func(s *scanned) any { return &s.attributes },
		},
		stored("owner_id", "uuid", func(c *Contact) **id.ID { return &c.OwnerID }),
		moment("created_at", func(c *Contact) *wire.Time { return &c.CreatedAt }).insertOnly(),
		moment("updated_at", func(c *Contact) *wire.Time { return &c.UpdatedAt }),
		derived("first_name_folded", "text", func(w *written) string { return Fold(w.FirstName) }),
	},
	eachText(func(t *Text) column {
		return derived(t.Name+"_folded", "text", func(w *written) *string { return foldOf(*t.Of(w.Contact)) })
	}),
	[]column{derived("words", "text", func(w *written) string { return w.words })},
)

// updatedColumns lists the columns that an update writes.
var updatedColumns = slices.DeleteFunc(slices.Clone(contactColumns), func(c column) bool { return c.fixed })

// column is a column of contact.
type column struct {
	name       string
	element    string              // SQL type of the elements of array
	conversion string              // of an element to the column's type, or ""
	fixed      bool                // an update does not write the column
	value      func(*written) any  // the argument of a statement for one contact
	array      func([]written) any // the argument of a statement for many contacts, one element each
	target     func(*scanned) any  // the address that a read stores the value at; nil: reads skip the column
}

// written is a contact with the values of its derived columns that are costly or used more than once.
type written struct {
	*Contact
	address    string // folded
	attributes string // JSON
	words      string
}

// scanned is a row as a read fills it, before Row.join.
type scanned struct {
	Row
	attributes            []byte
	segments, memberships []string
}

// writtenOf returns c for a statement. words is wordsOf(c).
func writtenOf(c *Contact, words []string) (written, error) {
	attributes, err := json.Marshal(c.Attributes)
	if err != nil {
		return written{}, fmt.Errorf("encode attributes: %w", err)
	}
	return written{c, Fold(c.Email), string(attributes), line(words)}, nil
}

// stored returns the column of a field; at returns the field's address.
func stored[T any](name, element string, at func(*Contact) *T) column {
	c := derived(name, element, func(w *written) T { return *at(w.Contact) })
	c.target = func(s *scanned) any { return at(&s.Contact) }
	return c
}

// moment is stored for a time.
func moment(name string, at func(*Contact) *wire.Time) column {
	c := stored(name, "timestamptz", at)
	c.array = arrayOf(func(w *written) time.Time { return at(w.Contact).Time })
	return c
}

// derived returns a column that is written with a value computed from the contact, and never read.
func derived[T any](name, element string, value func(*written) T) column {
	return column{
		name: name, element: element, array: arrayOf(value), value: func(w *written) any { return value(w) },
	}
}

// insertOnly returns c as a column that an update does not write.
func (c column) insertOnly() column {
	c.fixed = true
	return c
}

// cast returns c with elements that a statement for many contacts converts to the type to.
func (c column) cast(to string, array func([]written) any) column {
	c.conversion, c.array = "::"+to, array
	return c
}

func eachText(of func(*Text) column) []column {
	out := make([]column, len(texts))
	for i := range texts {
		out[i] = of(&texts[i])
	}
	return out
}

func arrayOf[T any](value func(*written) T) func([]written) any {
	return func(all []written) any {
		out := make([]T, len(all))
		for i := range all {
			out[i] = value(&all[i])
		}
		return out
	}
}

// joined returns the comma-separated SQL of columns. i counts from 0.
func joined(columns []column, sql func(i int, c *column) string) string {
	all := make([]string, len(columns))
	for i := range columns {
		all[i] = sql(i, &columns[i])
	}
	return strings.Join(all, ", ")
}
