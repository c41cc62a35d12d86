package scoring

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Kind is what the values of a custom field are, as a model reads them.
type Kind string

// The kinds.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Date    Kind = "date" // YYYY-MM-DD; weighed as the number of its day since 1970
)

// Field is how a model weighs one custom field. A contact has exactly one of its levels.
type Field struct {
	Key  string `json:"key"`
	Kind Kind   `json:"kind"`
	// Levels are the weights of a text's or boolean's values, by the value with its ASCII letters in lower case.
	Levels map[string]float64 `json:"levels,omitempty"`
	// Edges part the numbers: Bins[i] weighs those from Edges[i-1] up to, not including, Edges[i].
	Edges []float64 `json:"edges,omitempty"`
	Bins  []float64 `json:"bins,omitempty"`
	// Other weighs a text that is no level, and a value of another kind.
	Other float64 `json:"other"`
	// Absent weighs a contact without the field.
	Absent float64 `json:"absent"`

	feature Feature
	labels  []string // of the bins
}

// maxLevel is how many bytes of a text tell it from another.
const maxLevel = 96

// prepare makes what reasons show of the field; an error says why the field cannot be used.
func (f *Field) prepare() error {
	f.feature = FieldFeature(f.Key)
	weights := append(slices.Clone(f.Bins), f.Other, f.Absent)
	for _, w := range f.Levels {
		weights = append(weights, w)
	}
	for _, w := range weights {
		if !sane(w) {
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

// BinName is how reasons name the bin i.
func (f *Field) BinName(i int) string {
	switch {
	case len(f.Edges) == 0:
		return "any"
	case i == 0:
		return "< " + f.bound(f.Edges[0])
	case i == len(f.Edges):
		return ">= " + f.bound(f.Edges[i-1])
	}
	return f.bound(f.Edges[i-1]) + " to < " + f.bound(f.Edges[i])
}

func (f *Field) bound(x float64) string {
	if f.Kind == Date {
		return time.Unix(int64(x)*86400, 0).UTC().Format(time.DateOnly)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// FieldFeature is the name of a custom field in reasons.
func FieldFeature(key string) Feature { return Feature("attributes." + key) }

// term is the field's part of a score. It allocates nothing.
func (f *Field) term(v any) term {
	switch x := v.(type) {
	case nil:
		return term{f.feature, absent, f.Absent}
	case string:
		if x == "" {
			return term{f.feature, absent, f.Absent}
		}
		if f.Kind == Date {
			if day, ok := Day(x); ok {
				return f.bin(day)
			}
			return term{f.feature, x, f.Other}
		}
		var room [maxLevel]byte
		if w, ok := f.Levels[string(level(x, &room))]; ok {
			return term{f.feature, x, w}
		}
		return term{f.feature, x, f.Other}
	case float64:
		if f.Kind == Number {
			return f.bin(x)
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

func (f *Field) bin(x float64) term {
	i := 0
	for i < len(f.Edges) && x >= f.Edges[i] {
		i++
	}
	return term{f.feature, f.labels[i], f.Bins[i]}
}

// level is what text values are told apart by: ASCII letters in lower case, at most 96 bytes.
func level(s string, room *[maxLevel]byte) []byte {
	n := copy(room[:], s)
	for i, c := range room[:n] {
		if 'A' <= c && c <= 'Z' {
			room[i] = c + 'a' - 'A'
		}
	}
	for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) { // a character that was cut in two
		n--
	}
	return room[:n]
}

// Level is the level of a text value.
func Level(s string) string {
	var room [maxLevel]byte
	return string(level(s, &room))
}

// Day is the number of a date's day since 1970; false where s is no YYYY-MM-DD. It allocates nothing.
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

func sane(w float64) bool { return !math.IsNaN(w) && math.Abs(w) <= 20 }
