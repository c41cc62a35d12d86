package learn

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/funnelwork/funnelwork/internal/scoring"
)

// column is one feature in the fit. Each of its levels has a separate weight. An example has at most one level of a
// column, but any number of tags.
type column struct {
	feature scoring.Feature
	field   *scoring.Field // nil for a built-in feature
	levels  []string       // names, in the order of the weights
	index   map[string]int
	mean    []float64     // prior means
	ordered int           // number of leading levels that are bins of a number
	tied    *mat.SymDense // precision of the bins' weights at tau 1
	first   int           // index of the first weight
}

const (
	absentLevel = "\x00absent"
	otherLevel  = "\x00other"
)

// rareLimit is the minimum number of occurrences for a level to have its own weight.
func rareLimit(examples int) int { return max(3, examples/500) }

// newColumns returns the features that distinguish the examples: the built-in features with the levels that occur, and
// the custom fields with their detected kinds.
func newColumns(ex []Example, prior *scoring.Model) []*column {
	var out []*column
	for _, f := range scoring.Features() {
		if c := builtInColumn(f, ex, prior); c != nil {
			out = append(out, c)
		}
	}

	keys := map[string]bool{}
	for i := range ex {
		for k, v := range ex[i].Contact.Values {
			if v != nil {
				keys[k] = true
			}
		}
	}

	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if c := customColumn(key, ex); c != nil {
			out = append(out, c)
		}
	}

	return out[:min(len(out), maxColumns)]
}

func newColumn(f scoring.Feature, levels []string) *column {
	c := &column{
		feature: f, levels: levels, index: make(map[string]int, len(levels)),
		mean: make([]float64, len(levels)),
	}
	for i, l := range levels {
		c.index[l] = i
	}
	return c
}

// builtInColumn returns the column of a built-in feature: the levels of the prior and the frequent ones.
func builtInColumn(f scoring.Feature, ex []Example, prior *scoring.Model) *column {
	seen := map[string]int{}
	for i := range ex {
		c := &ex[i].Contact
		if f == scoring.Source {
			for _, word := range scoring.SourceWords(c.Source) { // a missing source is a level of the prior
				seen[word]++
			}
			continue
		}
		c.Visit(func(g scoring.Feature, level string) bool {
			return g == f && level != ""
		}, func(g scoring.Feature, level string) {
			if g == f && level != scoring.Other {
				seen[level]++
			}
		})
	}

	levels := slices.Sorted(maps.Keys(prior.Weights[f]))
	levels = slices.DeleteFunc(levels, func(l string) bool { return l == scoring.Other })
	for _, l := range slices.Sorted(maps.Keys(seen)) {
		if seen[l] >= rareLimit(len(ex)) && !slices.Contains(levels, l) && len(levels) < maxLevels {
			levels = append(levels, l)
		}
	}

	if len(levels) == 0 {
		return nil
	}

	levels = append(levels, scoring.Other)
	c := newColumn(f, levels)
	for i, l := range levels {
		if w, ok := prior.Weights[f][l]; ok {
			c.mean[i] = w
		} else {
			c.mean[i] = prior.Weights[f][scoring.Other]
		}
	}

	return c
}

const (
	maxColumns = 230
	maxLevels  = 40 // per text field
	maxBins    = 40 // per number field
)

// customColumn returns the column of a custom field, or nil if all examples have the same value.
func customColumn(key string, ex []Example) *column {
	kind := kindOf(key, ex)
	switch kind {
	case scoring.Number, scoring.Date:
		return numericColumn(key, kind, ex)
	case scoring.Text, scoring.Boolean:
	}

	count := map[string]int{}
	missing := 0
	for i := range ex {
		switch l := levelOf(ex[i].Contact.Values[key]); l {
		case absentLevel:
			missing++
		default:
			count[l]++
		}
	}

	levels := slices.Collect(maps.Keys(count))
	levels = slices.DeleteFunc(levels, func(l string) bool { return count[l] < rareLimit(len(ex)) })
	slices.SortFunc(levels, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	if len(levels) > maxLevels {
		levels = levels[:maxLevels]
	}
	if len(levels) == 0 && missing == 0 || len(levels) == 1 && count[levels[0]] == len(ex) {
		return nil
	}

	c := newColumn(scoring.FieldFeature(key), append(levels, otherLevel, absentLevel))
	c.field = &scoring.Field{Key: key, Kind: kind}
	return c
}

// kindOf returns the most frequent kind of the values.
func kindOf(key string, ex []Example) scoring.Kind {
	n := map[scoring.Kind]int{}
	for i := range ex {
		switch x := ex[i].Contact.Values[key].(type) {
		case string:
			if _, ok := scoring.Day(x); ok {
				n[scoring.Date]++
			} else if x != "" {
				n[scoring.Text]++
			}
		case float64:
			n[scoring.Number]++
		case bool:
			n[scoring.Boolean]++
		}
	}

	best := scoring.Text
	for _, k := range []scoring.Kind{scoring.Number, scoring.Boolean, scoring.Date} {
		if n[k] > n[best] {
			best = k
		}
	}

	return best
}

func levelOf(v any) string {
	switch x := v.(type) {
	case string:
		if x != "" {
			return scoring.Level(x)
		}
		return absentLevel
	case bool:
		return strconv.FormatBool(x)
	case nil:
		return absentLevel
	}
	return otherLevel
}

func numberOf(kind scoring.Kind, v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, kind == scoring.Number
	case string:
		if kind == scoring.Date {
			return scoring.Day(x)
		}
	}
	return 0, false
}

// numericColumn returns the column of a number or date, with ordered bins of about equal count.
func numericColumn(key string, kind scoring.Kind, ex []Example) *column {
	var all []float64
	for i := range ex {
		if x, ok := numberOf(kind, ex[i].Contact.Values[key]); ok {
			all = append(all, x)
		}
	}

	edges := binEdges(all)
	if len(edges) == 0 && len(all) == len(ex) {
		return nil
	}

	levels := make([]string, 0, len(edges)+3)
	for i := range len(edges) + 1 {
		levels = append(levels, strconv.Itoa(i))
	}

	c := newColumn(scoring.FieldFeature(key), append(levels, otherLevel, absentLevel))
	c.ordered = len(edges) + 1
	c.tied = orderedPrecision(all, edges)
	c.field = &scoring.Field{Key: key, Kind: kind, Edges: edges}
	return c
}

// binEdges returns the edges of bins that hold about the same number of values. A value that is frequent enough to fill
// a bin has its own bin, and every edge is a value that occurs.
func binEdges(all []float64) []float64 {
	slices.Sort(all)
	bins := min(maxBins, max(2, len(all)/perBin))
	var edges []float64
	size := float64(len(all)) / float64(bins)
	for i, from := 1, 0; i < len(all); i++ {
		if all[i] == all[i-1] || len(edges) >= maxBins-1 {
			continue
		}
		if float64(i-from) >= size || float64(runLength(all[i:])) >= size {
			edges = append(edges, all[i])
			from = i
		}
	}
	return edges
}

// runLength returns the number of equal values at the start of sorted.
func runLength(sorted []float64) int {
	n, _ := slices.BinarySearch(sorted, math.Nextafter(sorted[0], math.Inf(1)))
	return n
}

// eachActive calls f with the index of each weight that the contact has.
func eachActive(cols []*column, c *scoring.Contact, f func(int)) {
	find := func(g scoring.Feature) *column {
		for _, col := range cols {
			if col.feature == g {
				return col
			}
		}
		return nil
	}
	c.Visit(func(g scoring.Feature, level string) bool {
		col := find(g)
		if col == nil {
			return false
		}
		_, ok := col.index[level]
		return ok && level != scoring.Other
	}, func(g scoring.Feature, level string) {
		if col := find(g); col != nil {
			f(col.first + col.index[level])
		}
	})
	for _, col := range cols {
		if col.field != nil {
			f(col.first + col.levelPlace(c.Values[col.field.Key]))
		}
	}
}

func (c *column) levelPlace(v any) int {
	if c.ordered > 0 {
		if x, ok := numberOf(c.field.Kind, v); ok {
			i, exact := slices.BinarySearch(c.field.Edges, x)
			if exact {
				i++
			}
			return i
		}
		if v == nil || v == "" {
			return c.index[absentLevel]
		}
		return c.index[otherLevel]
	}
	if i, ok := c.index[levelOf(v)]; ok {
		return i
	}

	return c.index[otherLevel]
}
