package scoring

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Kind is the type of a custom field's values, as a model reads them.
type Kind string

// Kinds of custom fields.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Date    Kind = "date" // YYYY-MM-DD; weighted by the day number since 1970
)

// Field holds the weights of one custom field. A contact has exactly one of its levels.
type Field struct {
	Key  string `json:"key"`
	Kind Kind   `json:"kind"`
	// Levels holds the weights of the values of a text or boolean. Keys have their ASCII letters in lower case.
	Levels map[string]float64 `json:"levels,omitempty"`
	// Edges divides the numbers into bins: Bins[i] is the weight from Edges[i-1] up to, but not including, Edges[i].
	Edges []float64 `json:"edges,omitempty"`
	Bins  []float64 `json:"bins,omitempty"`
	// Other is the weight of a text without a level, and of a value of another kind.
	Other float64 `json:"other"`
	// Absent is the weight of a contact without the field.
	Absent float64 `json:"absent"`

	feature Feature
	labels  []string // names of the bins
}

// maxLevel is the number of bytes of a text that identify its level.
const maxLevel = 96

// prepareLabels computes the labels for reasons. It returns an error if the field cannot be used.
func (f *Field) prepareLabels() error {
	f.feature = FieldFeature(f.Key)
	weights := append(slices.Clone(f.Bins), f.Other, f.Absent)
	for _, w := range f.Levels {
		weights = append(weights, w)
	}

	for _, w := range weights {
		if !isSane(w) {
			return fmt.Errorf("a weight of field %q is %v", f.Key, w)
		}
	}

	switch f.Kind {
	case Text, Boolean:
		return nil
	case Number, Date:
	default:
		return fmt.Errorf("field %q is of kind %q", f.Key, f.Kind)
	}

	if len(f.Bins) != len(f.Edges)+1 || !slices.IsSorted(f.Edges) {
		return fmt.Errorf("field %q has %d bins and %d edges", f.Key, len(f.Bins), len(f.Edges))
	}

	f.labels = make([]string, len(f.Bins))
	for i := range f.labels {
		f.labels[i] = f.BinName(i)
	}

	return nil
}

// BinName returns the name of bin i in reasons.
func (f *Field) BinName(i int) string {
	switch {
	case len(f.Edges) == 0:
		return "any"
	case i == 0:
		return "< " + f.formatBound(f.Edges[0])
	case i == len(f.Edges):
		return ">= " + f.formatBound(f.Edges[i-1])
	}
	return f.formatBound(f.Edges[i-1]) + " to < " + f.formatBound(f.Edges[i])
}

func (f *Field) formatBound(x float64) string {
	if f.Kind == Date {
		return time.Unix(int64(x)*86400, 0).UTC().Format(time.DateOnly)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// FieldFeature returns the name of a custom field in reasons.
func FieldFeature(key string) Feature { return Feature("attributes." + key) }

// fieldTerm returns the field's term of a score. It does not allocate.
func (f *Field) fieldTerm(v any) term {
	switch x := v.(type) {
	case nil:
		return term{f.feature, absent, f.Absent}
	case string:
		if x == "" {
			return term{f.feature, absent, f.Absent}
		}
		if f.Kind == Date {
			if day, ok := Day(x); ok {
				return f.binTerm(day)
			}
			return term{f.feature, x, f.Other}
		}
		var room [maxLevel]byte
		if w, ok := f.Levels[string(levelKey(x, &room))]; ok {
			return term{f.feature, x, w}
		}
		return term{f.feature, x, f.Other}
	case float64:
		if f.Kind == Number {
			return f.binTerm(x)
		}
	case bool:
		name := "false"
		if x {
			name = "true"
		}
		if w, ok := f.Levels[name]; ok {
			return term{f.feature, name, w}
		}
		return term{f.feature, name, f.Other}
	}

	return term{f.feature, other, f.Other}
}

func (f *Field) binTerm(x float64) term {
	i := 0
	for i < len(f.Edges) && x >= f.Edges[i] {
		i++
	}
	return term{f.feature, f.labels[i], f.Bins[i]}
}

// levelKey returns the key of a text value: ASCII letters in lower case, at most 96 bytes.
func levelKey(s string, room *[maxLevel]byte) []byte {
	n := copy(room[:], s)
	for i, c := range room[:n] {
		if 'A' <= c && c <= 'Z' {
			room[i] = c + 'a' - 'A'
		}
	}
	for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) { // a truncated character
		n--
	}
	return room[:n]
}

// Level returns the key of a text value.
func Level(s string) string {
	var room [maxLevel]byte
	return string(levelKey(s, &room))
}

// Day returns the day number of a date since 1970, or false if s is not YYYY-MM-DD. It does not allocate.
func Day(s string) (float64, bool) {
	if len(s) != len(time.DateOnly) {
		return 0, false
	}
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, false
	}
	return float64(at.Unix() / 86400), true
}

func isSane(w float64) bool { return !math.IsNaN(w) && math.Abs(w) <= 20 }
