package api_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

var (
	agedStates = flag.String("aged.states", "grew", "states of the aged database's statistics, separated by commas")
	agedWalk   = flag.Bool("aged.walk", false, "compare the statements of an aged database with the list")
	agedUpdate = flag.Bool("aged.update", false, "write the list of reads that cost too much")
	agedYear   = flag.Bool("aged.year", false, "there are day partitions of a year")
	agedTable  = flag.String("aged.table", "", "file for a table of all reads, the costliest first")
)

// agedClasses are the orgs that read.
var agedClasses = []aged.Class{aged.Huge, aged.Grown, aged.Middle, aged.Small}

// agedExceptions is the list of reads that may cost more than their page.
const agedExceptions = "testdata/aged.txt"

// TestNoReadOfAnAgedDatabaseCostsMoreThanItsPage sends every GET operation with every filter in every order, for orgs
// of each size, in a database of many orgs with a history. None reads more than 200 buffers and 20 for each row of its
// page, 1.5 times as many in the huge org as in one of a tenth, or locks more than 60 relations.
func TestNoReadOfAnAgedDatabaseCostsMoreThanItsPage(t *testing.T) {
	if !*agedWalk {
		t.Skip("a walk of some minutes: give -aged.walk, as .ci/full does")
	}
	for state := range strings.SplitSeq(*agedStates, ",") {
		costs, table := agedCosts(t, aged.State(state))
		list := aged.ReadExceptions(t, agedExceptions)
		listed := aged.State(state)
		if *agedYear {
			listed = "year-" + listed
		}
		if *agedUpdate {
			list.Update(t, listed, costs)
		} else {
			list.Check(t, listed, costs)
		}
		if *agedTable != "" {
			slices.SortStableFunc(table, func(a, b agedLine) int { return b.buffers - a.buffers })
			writeTable(t, *agedTable+"."+state, table)
		}
	}
}

// agedLine is one read in the table.
type agedLine struct {
	buffers, bound, rows int
	class                aged.Class
	name, at, worst      string
}

func writeTable(t *testing.T, file string, table []agedLine) {
	t.Helper()
	var out strings.Builder
	for _, l := range table {
		fmt.Fprintf(&out, "%d\t%d\t%s\t%d\t%s\t%s\t%s\n", l.buffers, l.bound, l.class, l.rows, l.name, l.at, l.worst)
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// agedCosts makes all reads in the orgs of a database.
func agedCosts(t *testing.T, state aged.State) (aged.Costs, []agedLine) {
	t.Helper()
	size := aged.Test
	if *agedYear {
		size = aged.TestOfAYear
	}
	d := aged.Write(t, size, state)
	s := startIn(t, &d.Database, d.World.Box, api.New, slog.New(slog.DiscardHandler), operations, unlimited)
	sources, err := aged.ReadSources("..")
	if err != nil {
		t.Fatal(err)
	}
	r := aged.Record(t, d)
	costs, table := aged.Costs{}, []agedLine{}
	sql := testkit.Pgx(t, d.URL)
	for _, class := range agedClasses {
		w := &agedCaller{service: s, org: d.World.Org(class)}
		w.token = (&caller{service: s, Org: w.org.ID}).as(auth.Owner).Token
		reads, err := aged.Reads(t.Context(), sql, w.org, s.App.Document())
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range reads {
			r.Take()
			status, b := w.get(read.Path)
			if status != http.StatusOK && status != http.StatusNotFound {
				t.Errorf("%s: %s: %d %s", class, read.Path, status, b)
			}
			line := agedLine{rows: rowsOf(b), class: class, name: read.Name}
			line.bound = aged.Page(line.rows)
			most := -1
			for _, p := range r.Take() {
				line.buffers += p.Root.Buffers()
				if p.Root.Buffers() > most {
					most, line.at, line.worst = p.Root.Buffers(), sources.Find(p.SQL), p.Root.Worst()
				}
			}
			costs.Add(read.Name, line.buffers, line.bound)
			table = append(table, line)
		}
	}
	addGrowth(costs, table)
	addLocks(t, d, sources, costs)
	return costs, table
}

// rowsOf returns the number of rows of a page: of the objects of the longest list in a response. A board has a list in
// each of its columns.
func rowsOf(body []byte) int {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return 0
	}
	return longest(v)
}

func longest(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		inner := 0
		for _, e := range v {
			if _, ok := e.(map[string]any); ok {
				n++
			}
			inner += longest(e)
		}
		n = max(n, inner)
	case map[string]any:
		for _, e := range v {
			n = max(n, longest(e))
		}
	}
	return n
}

// addGrowth adds how the reads of the huge org compare with those of an org of a tenth: 1.5 times as many buffers at
// most, and a level more of each of a few trees.
func addGrowth(costs aged.Costs, table []agedLine) {
	tenth := map[string]agedLine{}
	for _, l := range table {
		if l.class == aged.Middle {
			tenth[l.name] = l
		}
	}
	for _, l := range table {
		if small, ok := tenth[l.name]; ok && l.class == aged.Huge && small.rows == l.rows {
			costs.Add("growth of "+l.name, l.buffers, small.buffers*3/2+trees)
		}
	}
}

// trees is the number of buffers by which a read of a larger org may differ because its indexes are deeper.
const trees = 40

// addLocks adds the locks that the plans of all statements take.
func addLocks(t *testing.T, d *aged.Database, sources *aged.Sources, costs aged.Costs) {
	t.Helper()
	conn := testkit.Pgx(t, d.URL)
	all, failed, most := d.Sent.All(), 0, 0
	defer func() {
		t.Logf("%d statements, of which %d cannot be planned alone; most locks of one: %d", len(all), failed, most)
	}()
	for _, s := range all {
		p, err := aged.PlanOf(t.Context(), conn, d.World.Org(aged.Huge).ID, s)
		if err != nil {
			failed++
			continue // it needs what a statement before it has done
		}
		most = max(most, p.Locks)
		where, _, _ := strings.Cut(sources.Find(s.SQL), ":")
		name := fmt.Sprintf("%s: %.80s", where, strings.Join(strings.Fields(s.SQL), " "))
		costs.Add("locks of "+name, p.Locks, mostLocks)
		if p.Took > mostPlanning { // time decides nothing here: on a busy machine each plan takes long
			t.Logf("planned in %s: %s", p.Took, name)
		}
	}
}

// The most relations that a plan locks, and the longest time that it takes.
const (
	mostLocks    = 60
	mostPlanning = 5 * time.Millisecond
)
