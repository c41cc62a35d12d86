package aged

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Cost is what a read or a statement has cost: of its calls, the one that was furthest above what it may cost.
type Cost struct{ Buffers, Bound int }

// Costs are costs by the name of the read or the statement.
type Costs map[string]Cost

// Add adds a call.
func (c Costs) Add(name string, buffers, bound int) {
	old, ok := c[name]
	if !ok || buffers*old.Bound > old.Buffers*bound {
		c[name] = Cost{Buffers: buffers, Bound: bound}
	}
}

// Page is what a request or statement may read that returns or changes so many rows.
func Page(rows int) int { return 200 + 20*rows }

// tolerated is the share of a bound, in percent, by which a cost may be above it: what the statistics sample, and how
// much of today has passed, varies from build to build.
const tolerated = 25

func (c Cost) over(varies bool) bool {
	if varies {
		return c.Buffers > 2*c.Bound
	}
	return c.Buffers*100 > c.Bound*(100+tolerated)
}

// Exceptions is a list of what may cost more than its bound, in a file with a line for each: state, name, most
// buffers, reason.
type Exceptions struct {
	// Varies is set where what happens varies from run to run: then an exception may be needless, and what is not in
	// the list may cost twice its bound.
	Varies bool

	file  string
	lines map[[2]string]exception
}

type exception struct {
	bound  int
	reason string
}

const separator = " | "

// atTimes begins the reason of what costs too much in some builds only: its plans cost about the same, and statistics
// are samples.
const atTimes = "at times"

func (x exception) stays(varies bool) bool { return varies || strings.HasPrefix(x.reason, atTimes) }

// ReadExceptions reads the list in a file.
func ReadExceptions(t testing.TB, file string) *Exceptions {
	t.Helper()
	e := &Exceptions{file: file, lines: map[[2]string]exception{}}
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, separator)
		bound, err := strconv.Atoi(parts[max(len(parts)-2, 0)])
		if err != nil || len(parts) < 4 || parts[len(parts)-1] == "" {
			t.Fatalf("%s: not state, name, buffers and reason: %s", file, line)
		}
		name := strings.Join(parts[1:len(parts)-2], separator)
		e.lines[[2]string{parts[0], name}] = exception{bound: bound, reason: parts[len(parts)-1]}
	}
	return e
}

// Check fails for each cost above its bound that is not in the list, or above the list's, and for each exception that
// is needed no longer.
func (e *Exceptions) Check(t testing.TB, state State, costs Costs) {
	t.Helper()
	names := slices.SortedFunc(maps.Keys(costs), func(a, b string) int { return costs[b].Buffers - costs[a].Buffers })
	for _, name := range names {
		cost := costs[name]
		x, listed := e.lines[[2]string{string(state), name}]
		switch {
		case listed && cost.Buffers > x.bound:
			t.Errorf("%s: %s: %d, and even the exception allows only %d", state, name, cost.Buffers, x.bound)
		case listed && cost.Buffers <= cost.Bound && !x.stays(e.Varies):
			t.Errorf("%s: %s: %d, of %d allowed: take the exception off %s", state, name, cost.Buffers,
				cost.Bound, e.file)
		case !listed && cost.over(e.Varies):
			t.Errorf("%s: %s: %d, of %d allowed", state, name, cost.Buffers, cost.Bound)
		}
	}
	for key := range e.lines {
		if _, ok := costs[key[1]]; key[0] == string(state) && !ok && !e.Varies {
			t.Errorf("%s: %s is not there any more: take the exception off %s", state, key[1], e.file)
		}
	}
}

// Update makes the lines of a state those that the costs need, with the reasons that they have had, and writes the
// file.
func (e *Exceptions) Update(t testing.TB, state State, costs Costs) {
	t.Helper()
	for key := range e.lines {
		c, ok := costs[key[1]]
		if key[0] == string(state) && (!ok || c.Buffers <= c.Bound) && !e.lines[key].stays(e.Varies) {
			delete(e.lines, key)
		}
	}
	for name, c := range costs {
		key := [2]string{string(state), name}
		x, listed := e.lines[key]
		if !listed && !c.over(e.Varies) || listed && x.stays(e.Varies) && c.Buffers <= x.bound {
			continue
		}
		if !listed {
			x.reason = "to be mended"
		}
		x.bound = rounded(c.Buffers * 3 / 2)
		if e.Varies {
			x.bound = rounded(c.Buffers * 4)
		}
		e.lines[key] = x
	}
	var out strings.Builder
	out.WriteString("# What costs more than it may: state of the statistics, name, most buffers or locks, reason.\n")
	keys := slices.SortedFunc(maps.Keys(e.lines), func(a, b [2]string) int {
		if c := strings.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return strings.Compare(a[1], b[1])
	})
	for _, key := range keys {
		x := e.lines[key]
		fmt.Fprintln(&out, strings.Join([]string{key[0], key[1], strconv.Itoa(x.bound), x.reason}, separator))
	}
	if err := os.WriteFile(e.file, []byte(out.String()), 0o644); err != nil { //nolint:gosec // as other golden files
		t.Fatal(err)
	}
}

// rounded rounds up to two digits.
func rounded(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}
