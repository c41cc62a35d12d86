package httpx

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Optional is a member of a merge patch: absent, null or a T. It needs the tag `required:"false"`.
//
// The schema allows null. If a field cannot be cleared, the handler returns notNull.
type Optional[T any] struct{ wire.Field[T] }

// Schema returns T's schema, made nullable.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	describeSchema(reflect.TypeFor[T](), &s)
	if s.OneOf == nil {
		s.Nullable = true
		return &s
	}
	first := *s.OneOf[0] // exactly one of the forms may allow null
	first.Nullable = true
	s.OneOf = append([]*huma.Schema{&first}, s.OneOf[1:]...)
	return &s
}

// Flag is a boolean that may be absent but not null: a client that sends null for dry_run does not mean a real run. It
// needs the tag `required:"false"`. huma accepts null for an optional member, so the handler must call neverNull.
type Flag struct{ wire.Field[bool] }

// Schema returns a boolean's schema.
func (Flag) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

// NoNulls returns a fault for the first member, by name, that was sent as null.
func NoNulls(flags map[string]Flag) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name].Null {
			return NotNullable(name)
		}
	}
	return nil
}

// RawJSON is a member of any JSON type, kept as sent; nil if absent.
type RawJSON json.RawMessage

// UnmarshalJSON stores a copy of b.
func (a *RawJSON) UnmarshalJSON(b []byte) error {
	*a = append((*a)[:0], b...)
	return nil
}

// MarshalJSON returns the value as sent.
func (a RawJSON) MarshalJSON() ([]byte, error) { return json.RawMessage(a).MarshalJSON() }

// Schema returns the schema of any value.
func (RawJSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// OneOrMore is an array of strings that may also be sent as a single string.
type OneOrMore []string

// UnmarshalJSON decodes either form.
func (l *OneOrMore) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var one string
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		*l = OneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// Schema returns the oneOf of the two forms.
func (OneOrMore) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
	}}
}

// NotNullable returns the 422 for a field that cannot be cleared but was sent as null.
func NotNullable(field string) error {
	return fault.Invalid(field, "not_nullable", "This field cannot be cleared.")
}

// Nullable is a member of a response that is an object or null.
type Nullable[T any] struct{ Value *T }

// MarshalJSON encodes the object, or null.
func (m Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(m.Value) }

// UnmarshalJSON decodes a value from a stored response.
func (m *Nullable[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &m.Value) }

// Schema returns T's schema, made nullable.
func (Nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	describeSchema(reflect.TypeFor[T](), &s)
	s.Nullable = true
	return &s
}
