package plans

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"go.yaml.in/yaml/v4"
)

// Type is what sort of thing a feature is.
type Type string

// The types.
const (
	Boolean Type = "boolean" // one has it or has not
	Limit   Type = "limit"   // how many; no number means no limit
	Text    Type = "text"    // a word for the part that reads it
)

// Value is what a plan, an override or an org has of a feature. Only the member of its type says anything.
type Value struct {
	Type Type
	On   bool
	Max  int64 // Unlimited where there is no limit
	Word string
}

// Unlimited is the Max of a limit without one. It is larger than every limit.
const Unlimited = math.MaxInt64

// Has tells whether the value lets its holder use the feature at all.
func (v Value) Has() bool {
	switch v.Type {
	case Boolean:
		return v.On
	case Limit:
		return v.Max > 0
	case Text:
		return v.Word != ""
	default:
		return false
	}
}

// plain is the value as JSON shows it: true, 5, null for no limit, "word".
func (v Value) plain() any {
	switch {
	case v.Type == Boolean:
		return v.On
	case v.Type == Text:
		return v.Word
	case v.Max == Unlimited:
		return nil
	default:
		return v.Max
	}
}

// MarshalJSON writes the bare value; null is a limit without one.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.plain()) }

// ParseValue reads what MarshalJSON writes, as a value of type t.
func ParseValue(t Type, b []byte) (Value, error) {
	v := Value{Type: t}
	var err error
	switch {
	case t == Boolean:
		err = json.Unmarshal(b, &v.On)
	case t == Text:
		err = json.Unmarshal(b, &v.Word)
	case string(b) == "null":
		v.Max = Unlimited
	default:
		if err = json.Unmarshal(b, &v.Max); err == nil && v.Max < 0 {
			err = errors.New("a limit is not below 0")
		}
	}
	if err != nil {
		return v, fmt.Errorf("want a %s: %w", t, err)
	}
	return v, nil
}

// number is a limit as the catalogue's file writes it: a whole number or `unlimited`.
type number int64

// UnmarshalYAML reads it.
func (n *number) UnmarshalYAML(node *yaml.Node) error {
	if node.Value == "unlimited" {
		*n = Unlimited
		return nil
	}
	var i int64
	if err := node.Decode(&i); err != nil || i < 0 || i == Unlimited {
		return fmt.Errorf("line %d: want a whole number, not below 0, or unlimited", node.Line)
	}
	*n = number(i)
	return nil
}

// cell reads one cell of the file's table.
func cell(t Type, node *yaml.Node) (Value, error) {
	v := Value{Type: t}
	var err error
	switch t {
	case Boolean:
		err = node.Decode(&v.On)
	case Limit:
		var n number
		err = n.UnmarshalYAML(node)
		v.Max = int64(n)
	case Text:
		if err = node.Decode(&v.Word); err == nil && v.Word == "" {
			err = errors.New("want a word")
		}
	}
	return v, err
}
