// Package form takes the members of a body into a row and collects what is wrong with them, one field error each.
//
// A member is a wire.Field: absent leaves the row as it is, null clears where that may be, anything else is checked. The
// caller goes on to the end and asks Fault once, so that one answer names all that is wrong.
package form

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The lengths that most texts have, in characters.
const (
	Name  = 200
	Phone = 50
)

const maxWrong = 100 // wrong parts that are told of one object

// Form is one object that was sent.
type Form struct {
	path  string
	wrong []fault.Field
}

// At begins the form of the object at path: "" for the body, "deals/3/" for a part of it.
func At(path string) *Form { return &Form{path: path} }

// Wrong notes one wrong member.
func (f *Form) Wrong(field, code, detail string) {
	if len(f.wrong) < maxWrong {
		f.wrong = append(f.wrong, fault.Field{Pointer: "#/" + f.path + field, Code: code, Detail: detail})
	}
}

// OK tells whether nothing is wrong so far.
func (f *Form) OK() bool { return len(f.wrong) == 0 }

// Fault is the 422 that names all that is wrong; nil where nothing is.
func (f *Form) Fault() error {
	if f.OK() {
		return nil
	}
	return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: f.wrong}
}

// Missing notes a member that a new object needs and that was not sent.
func Missing[T any](f *Form, field string, in wire.Field[T]) {
	if !in.Set {
		f.Wrong(field, "required", "This field is required.")
	}
}

// Required takes a one-line text that can be neither null nor blank.
func (f *Form) Required(field string, in wire.Field[string], at *string, longest int) {
	f.required(field, in, at, longest, f.line)
}

// RequiredText is Required for a text of many lines.
func (f *Form) RequiredText(field string, in wire.Field[string], at *string, longest int) {
	f.required(field, in, at, longest, f.text)
}

func (f *Form) required(field string, in wire.Field[string], at *string, longest int, takes func(string, string, int) bool) {
	switch {
	case !in.Set:
	case in.Null:
		f.Wrong(field, "not_nullable", "This field cannot be null.")
	case strings.TrimSpace(in.Value) == "":
		f.Wrong(field, "required", "This field cannot be blank.")
	case takes(field, in.Value, longest):
		*at = in.Value
	}
}

// Optional takes a one-line text that null clears; so does a blank one.
func (f *Form) Optional(field string, in wire.Field[string], at **string, longest int) {
	f.optional(field, in, at, longest, f.line)
}

// OptionalText is Optional for a text of many lines.
func (f *Form) OptionalText(field string, in wire.Field[string], at **string, longest int) {
	f.optional(field, in, at, longest, f.text)
}

func (f *Form) optional(field string, in wire.Field[string], at **string, longest int, takes func(string, string, int) bool) {
	switch {
	case !in.Set:
	case in.Null || strings.TrimSpace(in.Value) == "":
		*at = nil
	case takes(field, in.Value, longest):
		*at = &in.Value
	}
}

func (f *Form) line(field, s string, longest int) bool {
	return f.characters(field, s, longest, NotInLine)
}

// text may have line ends and tabs.
func (f *Form) text(field, s string, longest int) bool {
	return f.characters(field, s, longest, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
}

func (f *Form) characters(field, s string, longest int, refused func(rune) bool) bool {
	switch {
	case utf8.RuneCountInString(s) > longest:
		f.Wrong(field, "too_long", "At most "+strconv.Itoa(longest)+" characters are allowed.")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, refused):
		f.Wrong(field, badCharacters, noControl)
	default:
		return true
	}
	return false
}

// OneOf takes one of a few words that null cannot clear.
func (f *Form) OneOf(field string, in wire.Field[string], at *string, words ...string) {
	switch {
	case !in.Set:
	case in.Null:
		f.Wrong(field, "not_nullable", "This field cannot be null.")
	case !slices.Contains(words, in.Value):
		f.Wrong(field, "not_allowed", "The value is one of "+strings.Join(words, ", ")+".")
	default:
		*at = in.Value
	}
}

// ID takes a UUID that null clears.
func (f *Form) ID(field string, in wire.Field[string], at **id.ID) {
	if !in.Set {
		return
	}
	if in.Null {
		*at = nil
		return
	}
	i, err := id.Parse(in.Value)
	if err != nil {
		f.Wrong(field, "invalid_uuid", "This is not a UUID.")
		return
	}
	*at = &i
}

// Time takes an RFC 3339 time between the years 1900 and 9999 that null clears.
func (f *Form) Time(field string, in wire.Field[string], at **wire.Time) {
	if !in.Set {
		return
	}
	if in.Null {
		*at = nil
		return
	}
	var t wire.Time
	switch err := t.UnmarshalText([]byte(in.Value)); {
	case err != nil:
		f.Wrong(field, "invalid_time", "This is not an RFC 3339 time.")
	case t.Year() < 1900 || t.Year() > 9999:
		f.Wrong(field, "out_of_range", "The time lies between the years 1900 and 9999.")
	default:
		*at = &t
	}
}

// Past takes the time of something that has happened, between 1970 and now.
func (f *Form) Past(field string, in wire.Field[string], now wire.Time, at *wire.Time) {
	if in.Null {
		f.Wrong(field, "not_nullable", "This field cannot be null.")
		return
	}
	var t *wire.Time
	f.Time(field, in, &t)
	switch {
	case t == nil:
	case t.After(now.Time) || t.Before(time.Unix(0, 0)):
		f.Wrong(field, "out_of_range", "The time lies between 1970 and now.")
	default:
		*at = *t
	}
}

// Date takes a day, YYYY-MM-DD, between the years 1900 and 9999 that null clears.
func (f *Form) Date(field string, in wire.Field[string], at **string) {
	if !in.Set {
		return
	}
	if in.Null {
		*at = nil
		return
	}
	day, err := time.Parse(time.DateOnly, in.Value)
	if err != nil || day.Year() < 1900 {
		f.Wrong(field, "invalid_date", "This is not a day, YYYY-MM-DD, from 1900 on.")
		return
	}
	*at = &in.Value
}

// Refused is embedded by a patch: the members that were sent and that nobody may change, by their names on the wire.
type Refused struct{ Sent map[string]json.RawMessage }

// Refuse puts a member in, if it was sent.
func (r *Refused) Refuse(name string, sent json.RawMessage) {
	if sent == nil {
		return
	}
	r.Sent = maps.Clone(r.Sent)
	if r.Sent == nil {
		r.Sent = map[string]json.RawMessage{}
	}
	r.Sent[name] = sent
}

// ReadOnly refuses members that nobody may change, unless they say what is so anyway: a caller may send back the whole
// object that it read. current is the object, as its JSON shows it.
func (f *Form) ReadOnly(sent map[string]json.RawMessage, current any) {
	if len(sent) == 0 {
		return
	}
	b, err := json.Marshal(current)
	var now map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &now)
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if err != nil || !same(sent[name], now[name]) {
			f.Wrong(name, "read_only", "This field is set by the service and cannot be changed.")
		}
	}
}

// same tells whether two values are equal JSON, or the same moment.
func same(a, b json.RawMessage) bool {
	var x, y any
	if bytes.Equal(a, b) {
		return true
	}
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	if reflect.DeepEqual(x, y) {
		return true
	}
	var s, t wire.Time
	_, text := x.(string)
	return text && json.Unmarshal(a, &s) == nil && json.Unmarshal(b, &t) == nil && s.Equal(t.Time)
}
