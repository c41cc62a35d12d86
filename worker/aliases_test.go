package worker_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

// A kind in three successive releases. The second is the first of the two releases of its renaming.
var (
	before  = queue.Define[none]("test.old", queue.Options{})
	renamed = queue.Define[none]("test.old", queue.Options{Alias: "test.new"})
	after   = queue.Define[none]("test.new", queue.Options{Alias: "test.old"})
)

// TestAnyReleaseRunsTheJobsOfItsNeighbours runs the jobs and tasks that one release has written in a worker of another.
func TestAnyReleaseRunsTheJobsOfItsNeighbours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		writes, works queue.Kind[none]
		row, metric   string // the kind in the row and the task, and in metrics
	}{
		{"the release before runs what this one writes", renamed, before, "test.old", "test.old"},
		{"this release runs what the one before wrote", before, renamed, "test.old", "test.old"},
		{"this release runs what the next one writes", after, renamed, "test.new", "test.old"},
		{"the next release runs what this one wrote", renamed, after, "test.old", "test.new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			h.add(adding(c.writes, none{}))
			if got := h.only().Kind; got != c.row {
				t.Errorf("the row's kind is %s, want %s", got, c.row)
			}
			h.push(h.only().ref())
			tasks, err := h.inspect().ListPendingTasks("default")
			if err != nil || len(tasks) != 1 || tasks[0].Type != c.row {
				t.Errorf("tasks %+v, %v; want one of type %s", tasks, err, c.row)
			}
			reg := prometheus.NewRegistry()
			h.work(worker.Options{Metrics: worker.NewMetrics(reg)}, c.works.HandleTx(markWork))
			h.until(giveUpAfter, "the job is done", func() bool { return len(h.jobs()) == 0 && h.doneRows() == 1 })
			h.until(giveUpAfter, "the run is counted", func() bool {
				return slices.Equal(kindsIn(t, reg, "funnelwork_jobs_runs_total"), []string{c.metric})
			})
		})
	}
}

func TestAWorkerPausesTheAliasOfAPausedKind(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.exec("INSERT INTO job_pause (scope, name) VALUES ('kind', $1)", before.Name())
	h.work(worker.Options{}, renamed.HandleTx(markWork))
	h.until(giveUpAfter, "the alias is paused", func() bool {
		return h.count("SELECT count(*) FROM job_pause WHERE scope = 'kind' AND name = $1", after.Name()) == 1
	})
}

// kindsIn returns the values of a metric's label kind.
func kindsIn(t *testing.T, reg prometheus.Gatherer, name string) []string {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "kind" {
					out = append(out, l.GetValue())
				}
			}
		}
	}
	return out
}
