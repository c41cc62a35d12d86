package wire

import "encoding/json"

// Field is one member of a merge patch (RFC 7396): absent, null or a value.
// The zero Field is absent.
type Field[T any] struct {
	Set   bool // the member was sent
	Null  bool // and it was null
	Value T
}

// Some is a Field that carries v.
func Some[T any](v T) Field[T] { return Field[T]{Set: true, Value: v} }

// UnmarshalJSON is only called for members that are present.
func (f *Field[T]) UnmarshalJSON(b []byte) error {
	f.Set = true
	if string(b) == "null" {
		f.Null = true
		return nil
	}
	return json.Unmarshal(b, &f.Value)
}

// Apply writes the member to *at if it was sent; null writes the zero value.
func (f Field[T]) Apply(at *T) {
	if !f.Set {
		return
	}
	if f.Null {
		var zero T
		*at = zero
		return
	}
	*at = f.Value
}
