package contacts

import (
	"bytes"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

func has(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// list returns a copy of l that is never nil.
func list(l []string) []string { return append([]string{}, l...) }

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !has(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// gone returns the keys of a that b lacks.
func gone(a, b map[string]any) (keys []string) {
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
	slices.SortFunc(out, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(out)
}
