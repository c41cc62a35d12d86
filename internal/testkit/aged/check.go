package aged

import (
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
)

// SkipShort skips a test in short mode.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a database of 600 orgs")
	}
}

// Buffers returns how many buffers the plans have read together, and the costliest node of each.
func Buffers(all []Plan) (read int, worst string) {
	var nodes strings.Builder
	for i := range all {
		read += all[i].Root.Buffers()
		nodes.WriteString("\n" + all[i].Root.Worst())
	}
	return read, nodes.String()
}

// CheckPages compares two pages of a list, which begins with the newest ids below one, with what want returns, and
// their buffers with those that Page allows. The zero ID is above all.
func (r *Recorder) CheckPages(name string, limit int, want, list func(below id.ID, limit int) []id.ID) {
	r.t.Helper()
	var below id.ID
	for page := range 2 {
		expected := want(below, limit)
		r.Take()
		got := list(below, limit)
		read, worst := Buffers(r.Take())
		if !slices.Equal(expected, got) {
			r.t.Errorf("%s, page %d: got %v, want %v", name, page, got, expected)
		}
		if read > Page(len(got)) {
			r.t.Errorf("%s, page %d: %d buffers for %d rows%s", name, page, read, len(got), worst)
		}
		if len(got) < limit {
			return
		}
		below = got[limit-1]
	}
}
