package plans

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"go.yaml.in/yaml/v4"
)

// Type is the type of a feature.
type Type string

// The types.
const (
	Boolean Type = "boolean" // available or not
	Limit   Type = "limit"   // a maximum number; null means no limit
	Text    Type = "text"    // a word that the feature's code interprets
)

// Value is the value of a feature in a plan, an override or an org's rights. Only the field of its Type is meaningful.
type Value struct {
	Type Type
	On   bool
	Max  int64 // Unlimited without a limit
	Word string
}

// Unlimited is the Max of a feature without a limit. It is greater than every limit.
const Unlimited = math.MaxInt64

// Has reports whether the value permits any use of the feature.
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

// JSONTypes implements wire.Typed.
func (Value) JSONTypes() []string { return []string{"boolean", "integer", "string", "null"} }

// jsonValue returns the value for JSON: true, 5, null for no limit, "word".
func (v Value) jsonValue() any {
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

// MarshalJSON encodes the bare value; null means no limit.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.jsonValue()) }

// ParseValue parses the output of MarshalJSON as a value of type t.
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
			err = errors.New("a limit must not be below 0")
		}
	}

	if err != nil {
		return v, fmt.Errorf("want a %s: %w", t, err)
	}

	return v, nil
}

// number is a limit in the catalogue's file: an integer or `unlimited`.
type number int64

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *number) UnmarshalYAML(node *yaml.Node) error {
	if node.Value == "unlimited" {
		*n = Unlimited
		return nil
	}

	var i int64
	if err := node.Decode(&i); err != nil || i < 0 || i == Unlimited {
		return fmt.Errorf("line %d: want a whole number of at least 0, or unlimited", node.Line)
	}

	*n = number(i)

	return nil
}

// parseCell parses one cell of the file's table.
func parseCell(t Type, node *yaml.Node) (Value, error) {
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
