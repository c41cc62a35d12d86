package imports

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// Column is a column of a file.
type Column struct {
	Name   string        `json:"name"`
	Field  *string       `json:"field"`            // of the contact, attributes.KEY, external_ids.SYSTEM; nil: left out
	Type   contacts.Type `json:"type"`             // of a custom field: fits every value of the column, or as chosen
	Filled bool          `json:"filled,omitempty"` // the column has a value
	Dates  string        `json:"dates,omitempty"`  // order of dates with slashes: dmy, mdy, or "": not known
	Reason string        `json:"reason,omitempty"` // why the column is left out

	former *Column // of the file that these refused rows are from; nil: not known
}

// key returns the key of the custom field that the column is mapped to.
func (c *Column) key() (string, bool) {
	if c.Field == nil {
		return "", false
	}
	return strings.CutPrefix(*c.Field, attribute)
}

// Reasons for which a column is left out.
const (
	reasonNull     = "mapped_to_null"
	reasonReadOnly = "read_only"
	reasonID       = "id_not_mapped"
	reasonKey      = "invalid_key"
)

// maxKey is the maximum length of a custom field's key, in characters.
const maxKey = 64

// columnsOf returns the columns of a header.
func columnsOf(header []string) ([]Column, error) {
	names, err := sheet.Names(header)
	if err != nil {
		return nil, err
	}
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns, nil
}

// columnNames returns the names of the columns.
func columnNames(columns []Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// mapper assigns fields to columns.
type mapper struct {
	columns []Column
	given   map[string]*string // from the request
	taken   map[string]bool    // fields that have a column
	without map[string]bool    // fields that only the request can name
	wrong   []fault.FieldError
}

func (m *mapper) say(pointer, name, code, detail string) {
	name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	m.wrong = append(m.wrong, fault.FieldError{Pointer: pointer + name, Code: code, Detail: detail})
}

// mapTo sets each column's field: from the mapping, a JSON object of column to field or null, or else by the column's
// name, which does not mean the fields of without. Of two columns with names of one field, the better one gets it: the
// one that has values, then the one with the better name. The other becomes a custom field, as does a column with any
// other name. A mapping with an unknown column or field is a validation fault, and so is a file without email or id.
func mapTo(columns []Column, mapping []byte, without ...string) error {
	m := &mapper{
		columns: columns, given: map[string]*string{}, taken: map[string]bool{}, without: map[string]bool{},
	}
	for _, field := range without {
		m.without[field] = true
	}
	if len(bytes.TrimSpace(mapping)) > 0 {
		if err := json.Unmarshal(mapping, &m.given); err != nil || m.given == nil {
			return fault.Invalid("mapping", "invalid_type",
				"The mapping is a JSON object of columns, each with a field's name or null.")
		}
	}

	m.checkGiven()
	m.assignGiven()
	m.assignFormer()
	m.assignExternal()
	m.assignByName()
	m.assignNames()
	m.assignAttributes()
	if len(m.wrong) == 0 && !m.hasKey() {
		m.say("#/mapping", "", "required", noKey(columns))
	}
	if len(m.wrong) > 0 {
		return &fault.Fault{
			Code: fault.ValidationFailed, Detail: "The file cannot be imported like this.",
			Fields: m.wrong[:min(len(m.wrong), 100)],
		}
	}

	return nil
}

// noKey returns the message for a file without a column of addresses or ids, with the header as it was read.
func noKey(columns []Column) string {
	names := strings.Join(columnNames(columns), ", ")
	if utf8.RuneCountInString(names) > 300 {
		names = string([]rune(names)[:300]) + "…"
	}
	return "A column has to be mapped to email, to id or to external_ids.SYSTEM. " +
		"The line that was read as the header is: " + names
}

// checkGiven checks the columns and fields of the request.
func (m *mapper) checkGiven() {
	for _, name := range slices.Sorted(maps.Keys(m.given)) {
		f := m.given[name]
		if m.column(name) == nil {
			m.say("#/mapping/", name, "unknown_column",
				fault.Choices("The file has no such column.", name, columnNames(m.columns)))
		}
		if f == nil || slices.Contains(fields, *f) || isExternal(*f) {
			continue
		}
		if key, is := strings.CutPrefix(*f, attribute); !is || !contacts.ValidKey(key) {
			m.say("#/mapping/", name, "unknown_field", fault.Choices("A contact has no such field.", *f,
				append(slices.Clone(fields),
					attribute+"KEY for a custom field, or "+external+"SYSTEM for ids of another system")))
		}
	}
}

// column returns the column that a request names, as the file writes it or in the form of Names.
func (m *mapper) column(name string) *Column {
	for i := range m.columns {
		if c := &m.columns[i]; c.Name == name {
			return c
		}
	}
	if names, err := sheet.Names([]string{name}); err == nil && names[0] != name && strings.TrimSpace(name) != "" {
		return m.column(names[0])
	}
	return nil
}

// assignGiven assigns the fields of the request.
func (m *mapper) assignGiven() {
	chosen := map[*Column]*string{}
	for name, f := range m.given {
		if c := m.column(name); c != nil {
			chosen[c] = f
		}
	}
	for i := range m.columns {
		c := &m.columns[i]
		f, is := chosen[c]
		switch {
		case !is:
		case f == nil:
			c.Reason = reasonNull
		default:
			if m.taken[*f] {
				m.say("#/mapping/", c.Name, "duplicate_field", "Another column is mapped to the same field.")
			}
			c.Field = f
			m.taken[*f] = true
		}
	}
}

// assignFormer assigns the fields that columns of refused rows had in the file that they are from.
func (m *mapper) assignFormer() {
	for i := range m.columns {
		c := &m.columns[i]
		if c.former == nil || !c.isOpen() {
			continue
		}
		c.Reason = c.former.Reason
		if f := c.former.Field; f != nil && !m.taken[*f] {
			c.Field = f
			m.taken[*f] = true
		}
	}
}

// isOpen reports whether a column has neither a field nor a reason to be left out.
func (c *Column) isOpen() bool { return c.Field == nil && c.Reason == "" }

// assignByName assigns built-in fields by the names of columns, and each to its best column.
func (m *mapper) assignByName() {
	best, places := map[string]int{}, map[int]int{}
	for i := range m.columns {
		c := &m.columns[i]
		if !c.isOpen() || strings.HasPrefix(c.Name, attribute) {
			continue
		}
		if word := plain(c.Name); slices.Contains(ignored, word) {
			c.Reason = reasonReadOnly
			if word == "id" {
				c.Reason = reasonID
			}
			continue
		}

		r, is := rankOf(c.Name)
		if !is || m.taken[r.field] || r.field == fullName || m.without[r.field] {
			continue
		}
		places[i] = r.place
		if !c.Filled {
			places[i] += 1 << 16
		}
		if other, is := best[r.field]; !is || places[i] < places[other] {
			best[r.field] = i
		}
	}

	for field, i := range best {
		m.columns[i].Field = &field
		m.taken[field] = true
	}
}

// assignNames assigns the best column of names. Beside a first name it has last names, and beside a last name first
// ones, as Nom does beside Prénom.
func (m *mapper) assignNames() {
	field := fullName
	switch {
	case m.taken["first_name"] && m.taken["last_name"], m.taken[fullName]:
		return
	case m.taken["first_name"]:
		field = "last_name"
	case m.taken["last_name"]:
		field = "first_name"
	}

	var best *Column
	place := 0
	for i := range m.columns {
		c := &m.columns[i]
		r, is := rankOf(c.Name)
		if is && c.isOpen() && r.field == fullName && (best == nil || !best.Filled || c.Filled && r.place < place) {
			best, place = c, r.place
		}
	}
	if best != nil {
		best.Field = &field
		m.taken[field] = true
	}
}

// assignAttributes makes custom fields of the other columns. A column without a value has none.
func (m *mapper) assignAttributes() {
	for i := range m.columns {
		c := &m.columns[i]
		if !c.isOpen() {
			continue
		}
		if key, is := strings.CutPrefix(c.Name, attribute); is && contacts.ValidKey(key) && !m.taken[c.Name] {
			m.take(c, key)
			continue
		}
		if !c.Filled && strings.HasPrefix(c.Name, "Column ") {
			continue
		}
		key := m.freeKey(c.Name)
		if key == "" {
			c.Reason = reasonKey
			continue
		}
		m.take(c, key)
	}
}

func (m *mapper) take(c *Column, key string) {
	field := attribute + key
	c.Field = &field
	m.taken[field] = true
}

// freeKey returns a key for a custom field that is called like a column, or "" if the name has no character for one.
func (m *mapper) freeKey(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '_'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.TrimPrefix(name, attribute))
	for n := 1; ; n++ {
		end := ""
		if n > 1 {
			end = " (" + strconv.Itoa(n) + ")"
		}
		key := []rune(name)
		key = key[:min(len(key), maxKey-len(end))]
		free := strings.TrimSpace(string(key)) + end
		if !contacts.ValidKey(free) {
			return ""
		}
		if !m.taken[attribute+free] {
			return free
		}
	}
}

// types of custom fields that a request can choose.
var columnTypes = []contacts.Type{contacts.String, contacts.Number, contacts.Boolean, contacts.Date}

// chooseTypes sets the types of columns from a JSON object of column to type. The columns must be mapped to custom
// fields. defined has the types of those that the org has defined.
func chooseTypes(columns []Column, given []byte, defined map[string]contacts.Type) error {
	if len(bytes.TrimSpace(given)) == 0 {
		return nil
	}
	types := map[string]contacts.Type{}
	if err := json.Unmarshal(given, &types); err != nil || types == nil {
		return fault.Invalid("types", "invalid_type", "This is a JSON object of columns, each with a type.")
	}

	m := &mapper{columns: columns}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t, c := types[name], m.column(name)
		if c == nil {
			m.say("#/types/", name, "unknown_column",
				fault.Choices("The file has no such column.", name, columnNames(columns)))
			continue
		}
		key, is := c.key()
		switch {
		case !slices.Contains(columnTypes, t):
			m.say("#/types/", name, "invalid_value", "A type is string, number, boolean or date.")
		case !is:
			m.say("#/types/", name, "not_custom", "The column is not mapped to a custom field.")
		case defined[key] != "" && defined[key] != t:
			m.say("#/types/", name, "wrong_type", "This custom field is defined as "+string(defined[key])+".")
		default:
			c.Type = t
		}
	}
	if len(m.wrong) > 0 {
		return &fault.Fault{
			Code: fault.ValidationFailed, Detail: "The file cannot be imported like this.",
			Fields: m.wrong[:min(len(m.wrong), 100)],
		}
	}

	return nil
}
