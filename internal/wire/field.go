package wire

import (
	"encoding/json"
	"math"
	"math/big"
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
	if n, ok := any(&f.Value).(*int64); ok && err != nil && parseWhole(b, n) {
		return nil
	}
	if values, ok := any(&f.Value).(*map[string]any); ok && err == nil {
		return refuseRounded(b, *values)
	}

	return err
}

// maxExact is the largest number up to which a float64 has each whole number.
const maxExact = 1 << 53

// refuseRounded replaces a whole number that was rounded to maxExact by one that is out of every range. Those that were
// rounded to larger ones are recognized by their size.
func refuseRounded(b []byte, values map[string]any) error {
	var literals map[string]json.Number
	for name, value := range values {
		number, ok := value.(float64)
		if !ok || math.Abs(number) != maxExact {
			continue
		}
		if literals == nil {
			if err := decodeNumbers(b, &literals); err != nil {
				return err
			}
		}
		exact, ok := new(big.Rat).SetString(literals[name].String())
		if !ok || exact.Cmp(new(big.Rat).SetFloat64(number)) != 0 {
			values[name] = math.Inf(1)
		}
	}
	return nil
}

// decodeNumbers decodes the members of an object that are numbers, as they are written.
func decodeNumbers(b []byte, into *map[string]json.Number) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*into = map[string]json.Number{}
	for name, raw := range all {
		(*into)[name] = json.Number(raw)
	}
	return nil
}

// parseWhole parses integers that encoding/json does not accept as integers, such as 1000.0 and 1e3; JSON Schema
// (2020-12,
// 4.2.3) does. It refuses integers beyond 2^53, because a client that writes them in this form does not have them
// exactly.
func parseWhole(b []byte, n *int64) bool {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > maxExact {
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
