package contacts

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
)

func containsKey(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// containsName reports whether all has s in some spelling.
func containsName(all []string, s string) bool {
	return slices.ContainsFunc(all, func(x string) bool { return compare.Equal(x, s) })
}

// copyNonNil returns a copy of l that is never nil.
func copyNonNil(l []string) []string { return append([]string{}, l...) }

// withoutKeys returns the elements of a that are not in b.
func withoutKeys(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !containsKey(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// missingKeys returns the keys of a that b lacks.
func missingKeys(a, b map[string]any) (keys []string) {
	for k := range a {
		if _, ok := b[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// SortIDs returns ids sorted, without duplicates.
func SortIDs(ids []id.ID) []id.ID {
	out := slices.Clone(ids)
	slices.SortFunc(out, id.Compare)
	return slices.Compact(out)
}

// arrayLiteral formats a as a Postgres array literal, because the elements of a multidimensional array must have equal
// length.
func arrayLiteral(a []string) string {
	if len(a) == 0 {
		return "{}"
	}

	var b strings.Builder
	for i, s := range a {
		if i == 0 {
			b.WriteString(`{"`)
		} else {
			b.WriteString(`","`)
		}
		if strings.ContainsAny(s, `"\`) {
			s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
		}
		b.WriteString(s)
	}

	b.WriteString(`"}`)
	return b.String()
}
