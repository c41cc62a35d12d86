// Package form applies the members of a request body to a row and collects one field error for each invalid member.
//
// A member is a wire.Field. An absent member leaves the row unchanged, null clears the field where that is allowed, and
// any other value is validated. The caller processes all members and calls Fault once, so that one response names all
// errors.
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

// Common maximum lengths of texts, in characters.
const (
	Name  = 200
	Phone = 50
)

const maxWrong = 100 // errors reported per object

// Form is an object of a request.
type Form struct {
	path  string
	wrong []fault.FieldError
}

// At returns the form of the object at path: "" for the body, "deals/3/" for a part of it.
func At(path string) *Form { return &Form{path: path} }

// Wrong records an invalid member.
func (f *Form) Wrong(field, code, detail string) {
	if len(f.wrong) < maxWrong {
		f.wrong = append(f.wrong, fault.FieldError{Pointer: "#/" + f.path + field, Code: code, Detail: detail})
	}
}

// OK reports whether no error has been recorded.
func (f *Form) OK() bool { return len(f.wrong) == 0 }

// Fault returns the 422 fault with all recorded errors, or nil if there are none.
func (f *Form) Fault() error {
	if f.OK() {
		return nil
	}
	return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: f.wrong}
}

// Missing records a required member that is absent.
func Missing[T any](f *Form, field string, in wire.Field[T]) {
	if !in.Set {
		f.Wrong(field, "required", "This field is required.")
	}
}

// Required applies a one-line text that must be neither null nor blank.
func (f *Form) Required(field string, in wire.Field[string], at *string, longest int) {
	f.setRequired(field, in, at, longest, f.acceptsLine)
}

// RequiredText is Required for a multi-line text.
func (f *Form) RequiredText(field string, in wire.Field[string], at *string, longest int) {
	f.setRequired(field, in, at, longest, f.acceptsText)
}

func (f *Form) setRequired(field string, in wire.Field[string], at *string, longest int,
	takes func(string, string, int) bool,
) {
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

// Optional applies a one-line text that a null or blank value clears.
func (f *Form) Optional(field string, in wire.Field[string], at **string, longest int) {
	f.setOptional(field, in, at, longest, f.acceptsLine)
}

// OptionalText is Optional for a multi-line text.
func (f *Form) OptionalText(field string, in wire.Field[string], at **string, longest int) {
	f.setOptional(field, in, at, longest, f.acceptsText)
}

func (f *Form) setOptional(field string, in wire.Field[string], at **string, longest int,
	takes func(string, string, int) bool,
) {
	switch {
	case !in.Set:
	case in.Null || strings.TrimSpace(in.Value) == "":
		*at = nil
	case takes(field, in.Value, longest):
		*at = &in.Value
	}
}

func (f *Form) acceptsLine(field, s string, longest int) bool {
	return f.acceptsCharacters(field, s, longest, NotInLine)
}

// acceptsText validates a text that may contain line ends and tabs.
func (f *Form) acceptsText(field, s string, longest int) bool {
	return f.acceptsCharacters(field, s, longest, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	})
}

func (f *Form) acceptsCharacters(field, s string, longest int, refused func(rune) bool) bool {
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

// OneOf applies one of the given words. null is not allowed.
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

// ID applies a UUID that null clears.
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

// Time applies an RFC 3339 time between the years 1900 and 9999 that null clears.
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

// Past applies a time between 1970 and now.
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

// Date applies a date, YYYY-MM-DD, between the years 1900 and 9999 that null clears.
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

// Refused is embedded by patches. It holds the read-only members that were sent, by JSON name.
type Refused struct{ Sent map[string]json.RawMessage }

// Refuse adds a member if it was sent.
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

// ReadOnly refuses read-only members unless they have the current value, so that a caller may send back the whole
// object that it read. current is the object in its JSON form.
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
		if err != nil || !sameValue(sent[name], now[name]) {
			f.Wrong(name, "read_only", "This field is set by the service and cannot be changed.")
		}
	}
}

// sameValue reports whether two values are equal JSON, or equal times.
func sameValue(a, b json.RawMessage) bool {
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
