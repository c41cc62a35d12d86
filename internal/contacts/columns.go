package contacts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The tables below feed every statement that reads or writes contacts. To add an optional text, add a line to
// optionalTexts, a field to Contact and to Patch, a member to the API's body, and a migration.

// Text is an optional one-line text of a contact. Its column has a folded column beside it. Patches, bulk updates,
// filters, imports, exports and merges handle every Text alike.
type Text struct {
	Name    string                  // of the column, the JSON member and the field of a filter or file
	Of      func(*Contact) **string // returns the address of the value
	In      func(*Patch) *part      // returns the address of the patch's member
	longest int                     // maximum number of characters
}

// part is a text member of a patch.
type part = wire.Field[string]

var optionalTexts = []Text{
	newText("phone", func(c *Contact) **string { return &c.Phone }, func(p *Patch) *part { return &p.Phone }).
		upTo(maxPhone),
	newText("job_title", func(c *Contact) **string { return &c.JobTitle }, func(p *Patch) *part { return &p.JobTitle }),
	newText("source", func(c *Contact) **string { return &c.Source }, func(p *Patch) *part { return &p.Source }),
	newText("time_zone", func(c *Contact) **string { return &c.TimeZone },
		func(p *Patch) *part { return &p.TimeZone }).
		upTo(maxKey),
	newText("country", func(c *Contact) **string { return &c.Country }, func(p *Patch) *part { return &p.Country }).
		upTo(maxKey),
}

// textField returns a Text of at most maxName characters.
func newText(name string, of func(*Contact) **string, in func(*Patch) *part) Text {
	return Text{Name: name, Of: of, In: in, longest: maxName}
}

func (t Text) upTo(longest int) Text {
	t.longest = longest
	return t
}

// Texts returns the optional texts of a contact. The caller must not change the slice.
func Texts() []Text { return optionalTexts }

// TextNames returns the names of the optional texts.
func TextNames() []string {
	names := make([]string, len(optionalTexts))
	for i := range optionalTexts {
		names[i] = optionalTexts[i].Name
	}
	return names
}

// TextNamed returns the optional text with the name, or nil if there is none.
func TextNamed(name string) *Text {
	for i := range optionalTexts {
		if optionalTexts[i].Name == name {
			return &optionalTexts[i]
		}
	}
	return nil
}

// contactColumns lists the columns of contact that hold a contact's fields, or are derived from them, in the order in
// which statements name them.
var contactColumns = slices.Concat(
	[]contactColumn{
		fieldColumn("id", "uuid", func(c *Contact) *id.ID { return &c.ID }).insertOnly(),
		fieldColumn("email", "text", func(c *Contact) *string { return &c.Email }),
		derivedColumn("email_folded", "text", func(w *writtenContact) string { return w.address }),
		fieldColumn("first_name", "text", func(c *Contact) *string { return &c.FirstName }),
		fieldColumn("last_name", "text", func(c *Contact) *string { return &c.LastName }),
		derivedColumn("last_name_folded", "text", func(w *writtenContact) string { return compare.Text(w.LastName) }),
	},
	eachText(func(t *Text) contactColumn { return fieldColumn(t.Name, "text", t.Of) }),
	[]contactColumn{
		fieldColumn("company_id", "uuid", func(c *Contact) **id.ID { return &c.CompanyID }),
		fieldColumn("stage", "text", func(c *Contact) *string { return &c.Stage }),
		fieldColumn("tags", "text", func(c *Contact) *[]string { return &c.Tag }).
			withCast("text[]", arrayOf(func(w *writtenContact) string { return arrayLiteral(w.Tag) })),
		{
			name: "attributes", element: "text", conversion: "::jsonb",
			value:  func(w *writtenContact) any { return w.attributes },
			array:  arrayOf(func(w *writtenContact) string { return w.attributes }),
			target: func(s *scannedRow) any { return &s.attributes },
		},
		fieldColumn("owner_id", "uuid", func(c *Contact) **id.ID { return &c.OwnerID }),
		{
			name: "external_ids", element: "text", conversion: "::jsonb",
			value:  func(w *writtenContact) any { return w.ExternalIDs.Text() },
			array:  arrayOf(func(w *writtenContact) string { return w.ExternalIDs.Text() }),
			target: func(s *scannedRow) any { return &s.ExternalIDs },
		},
		{
			name: "consent", element: "text", conversion: "::jsonb",
			value:  func(w *writtenContact) any { return w.consent },
			array:  arrayOf(func(w *writtenContact) *string { return w.consent }),
			target: func(s *scannedRow) any { return &s.Consent },
		},
		timeColumn("created_at", func(c *Contact) *wire.Time { return &c.CreatedAt }).insertOnly(),
		timeColumn("updated_at", func(c *Contact) *wire.Time { return &c.UpdatedAt }),
		derivedColumn("first_name_folded", "text", func(w *writtenContact) string { return compare.Text(w.FirstName) }),
	},
	eachText(func(t *Text) contactColumn {
		folded := func(w *writtenContact) *string { return foldOf(*t.Of(w.Contact)) }
		return derivedColumn(t.Name+"_folded", "text", folded)
	}),
	[]contactColumn{derivedColumn("words", "text", func(w *writtenContact) string { return w.words })},
)

// updatedColumns lists the columns that an update writes.
var updatedColumns = slices.DeleteFunc(slices.Clone(contactColumns), func(c contactColumn) bool { return c.fixed })

// contactColumn is a column of contact.
type contactColumn struct {
	name       string
	element    string                     // SQL type of the elements of array
	conversion string                     // of an element to the column's type, or ""
	fixed      bool                       // an update does not write the column
	value      func(*writtenContact) any  // the argument of a statement for one contact
	array      func([]writtenContact) any // the argument of a statement for many contacts, one element each
	target     func(*scannedRow) any      // the address that a read stores the value at; nil: reads skip the column
}

// writtenContact is a contact with the values of its derived columns that are costly or used more than once.
type writtenContact struct {
	*Contact
	address    string // folded
	attributes string // JSON
	consent    *string
	words      string
}

// scannedRow is a row as a read fills it, before Row.join.
type scannedRow struct {
	Row
	attributes            []byte
	segments, memberships []string
}

// writtenOf returns c for a statement. words is wordsOf(c).
func writtenOf(c *Contact, words []string) (writtenContact, error) {
	attributes, err := json.Marshal(c.Attributes)
	if err != nil {
		return writtenContact{}, fmt.Errorf("encode attributes: %w", err)
	}
	w := writtenContact{
		Contact: c, address: compare.Address(c.Email), attributes: string(attributes),
		words: wordLine(words),
	}
	if c.Consent != nil {
		consent, err := json.Marshal(c.Consent)
		if err != nil {
			return writtenContact{}, fmt.Errorf("encode consent: %w", err)
		}
		text := string(consent)
		w.consent = &text
	}
	return w, nil
}

// fieldColumn returns the column of a field; at returns the field's address.
func fieldColumn[T any](name, element string, at func(*Contact) *T) contactColumn {
	c := derivedColumn(name, element, func(w *writtenContact) T { return *at(w.Contact) })
	c.target = func(s *scannedRow) any { return at(&s.Contact) }
	return c
}

// timeColumn is fieldColumn for a time.
func timeColumn(name string, at func(*Contact) *wire.Time) contactColumn {
	c := fieldColumn(name, "timestamptz", at)
	c.array = arrayOf(func(w *writtenContact) time.Time { return at(w.Contact).Time })
	return c
}

// derivedColumn returns a column that is written with a value computed from the contact, and never read.
func derivedColumn[T any](name, element string, value func(*writtenContact) T) contactColumn {
	return contactColumn{
		name: name, element: element, array: arrayOf(value), value: func(w *writtenContact) any { return value(w) },
	}
}

// insertOnly returns c as a column that an update does not write.
func (c contactColumn) insertOnly() contactColumn {
	c.fixed = true
	return c
}

// withCast returns c with elements that a statement for many contacts converts to the type to.
func (c contactColumn) withCast(to string, array func([]writtenContact) any) contactColumn {
	c.conversion = "::" + to
	c.array = array
	return c
}

// eachText returns one column for each optional text.
func eachText(of func(*Text) contactColumn) []contactColumn {
	out := make([]contactColumn, len(optionalTexts))
	for i := range optionalTexts {
		out[i] = of(&optionalTexts[i])
	}
	return out
}

// arrayOf returns a function that builds the array of the values of many contacts.
func arrayOf[T any](value func(*writtenContact) T) func([]writtenContact) any {
	return func(all []writtenContact) any {
		out := make([]T, len(all))
		for i := range all {
			out[i] = value(&all[i])
		}
		return out
	}
}

// columnNames returns the comma-separated names of columns.
func columnNames(columns []contactColumn) string {
	return joinColumns(columns, func(_ int, c *contactColumn) string { return c.name })
}

// joinColumns returns the comma-separated SQL of columns. i counts from 0.
func joinColumns(columns []contactColumn, sql func(i int, c *contactColumn) string) string {
	all := make([]string, len(columns))
	for i := range columns {
		all[i] = sql(i, &columns[i])
	}
	return strings.Join(all, ", ")
}
