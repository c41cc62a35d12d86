package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// optional is a member of a merge patch: absent, null or a T. Give it `required:"false"`.
//
// Null passes the document's check; where a field cannot be cleared, the handler answers notNull.
type optional[T any] struct{ wire.Field[T] }

// Schema is T's, with null.
func (optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	if s.OneOf == nil {
		s.Nullable = true
		return &s
	}
	first := *s.OneOf[0] // exactly one of the forms may take the null
	first.Nullable = true
	s.OneOf = append([]*huma.Schema{&first}, s.OneOf[1:]...)
	return &s
}

// flag is a boolean that may be left out and cannot be null: who sends null for a dry run does not mean the real one.
// Give it `required:"false"`. huma lets a null of what may be left out pass, so the handler asks neverNull.
type flag struct{ wire.Field[bool] }

// Schema is a boolean's.
func (flag) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

// neverNull is the fault about the first of these members, by name, that was sent as null.
func neverNull(flags map[string]flag) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name].Null {
			return notNull(name)
		}
	}
	return nil
}

// oneOrMore is an array of strings that may also be sent as one string.
type oneOrMore []string

// UnmarshalJSON reads either form.
func (l *oneOrMore) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var one string
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		*l = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// Schema is oneOf the two forms.
func (oneOrMore) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
	}}
}

// notNull is the 422 about a field that was sent as null and cannot be cleared.
func notNull(field string) error {
	return fault.Invalid(field, "not_nullable", "This field cannot be cleared.")
}

// maybe is a member of an answer that is an object or null.
type maybe[T any] struct{ Value *T }

// MarshalJSON writes the object, or null.
func (m maybe[T]) MarshalJSON() ([]byte, error) { return json.Marshal(m.Value) }

// UnmarshalJSON reads back what was written, for a stored answer.
func (m *maybe[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &m.Value) }

// Schema is T's, with null.
func (maybe[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return &s
}
