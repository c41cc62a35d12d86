package fault

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// listed is the maximum number of names that a sentence lists in full. With more names it suggests the nearest ones.
const listed = 24

// suggested is the maximum number of names that a sentence suggests.
const suggested = 3

// longestName is the maximum length, in characters, of a name for which similar names are searched.
const longestName = 80

// Choices returns sentences about a value that is not one of names: what, followed by all names if they are few, or
// else by those most similar to given. The result never repeats given.
func Choices(what, given string, names []string) string {
	switch {
	case len(names) == 0:
		return what
	case len(names) <= listed:
		return what + " It must be one of: " + strings.Join(names, ", ") + "."
	}

	near := nearestNames(given, names)
	if len(near) == 0 {
		return what
	}

	return what + " Did you mean " + strings.Join(near, " or ") + "?"
}

// nearestNames returns the names most similar to given, best first: names within a number of edits of at most a quarter
// of given's length, and names that contain given.
func nearestNames(given string, names []string) []string {
	type scored struct {
		name  string
		edits int
	}

	given = strings.ToLower(given)
	length := utf8.RuneCountInString(given)
	if length == 0 || length > longestName {
		return nil
	}

	most := max(1, length/4)
	var near []scored

	for _, name := range names {
		folded := strings.ToLower(name)
		n := edits(given, folded)
		if length >= 3 && strings.Contains(folded, given) {
			n = min(n, most)
		}
		if n <= most {
			near = append(near, scored{name, n})
		}
	}

	slices.SortStableFunc(near, func(a, b scored) int { return a.edits - b.edits })
	out := make([]string, 0, suggested)
	for _, s := range near[:min(suggested, len(near))] {
		out = append(out, s.name)
	}

	return out
}

// edits returns the Levenshtein distance of a and b.
func edits(a, b string) int {
	from := []rune(a)
	to := []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}

	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			cost := diagonal
			if r != s {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}

	return row[len(to)]
}
