package wire

import (
	"encoding/json"
	"math"
	"strconv"
)

// Field is one member of a merge patch (RFC 7396): absent, null or a value.
// The zero Field is absent.
type Field[T any] struct {
	Set   bool // the member was sent
	Null  bool // and it was null
	Value T
}

// Some returns a Field with the value v.
func Some[T any](v T) Field[T] { return Field[T]{Set: true, Value: v} }

// UnmarshalJSON is only called for members that are present.
func (f *Field[T]) UnmarshalJSON(b []byte) error {
	f.Set = true
	if string(b) == "null" {
		f.Null = true
		return nil
	}
	err := json.Unmarshal(b, &f.Value)
	if n, ok := any(&f.Value).(*int64); ok && err != nil && whole(b, n) {
		return nil
	}
	return err
}

// whole parses integers that encoding/json does not accept as integers, such as 1000.0 and 1e3; JSON Schema (2020-12,
// 4.2.3) does. It refuses integers beyond 2^53, because a client that writes them in this form does not have them
// exactly.
func whole(b []byte, n *int64) bool {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return false
	}
	*n = int64(x)
	return true
}

// Apply stores the member in *at if it was sent. null stores the zero value.
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
