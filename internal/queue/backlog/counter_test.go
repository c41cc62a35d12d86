package backlog_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/backlog"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// ages returns funnelwork_jobs_oldest_open_seconds by lane.
func ages(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "funnelwork_jobs_oldest_open_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			out[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return out
}

func TestTheGaugesFollowTheTable(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	for _, statement := range []string{
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
		VALUES (gen_random_uuid(), gen_random_uuid(), 'test.a', '{}', 'bulk', 3)`,
		"UPDATE job SET wake_at = NULL, due = true, run_at = now() - interval '120 s'",
	} {
		if _, err := sql.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	reg := prometheus.NewRegistry()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	counts := make(chan []store.Backlog)
	c := &backlog.Counter{
		Store: store.New(db.App, db.System), Gauges: backlog.NewGauges(reg), Log: testkit.Log(t),
		Every: time.Millisecond,
		After: func(ctx context.Context, lanes []store.Backlog) {
			select {
			case counts <- lanes:
			case <-ctx.Done():
			}
		},
	}
	if before := ages(t, reg); len(before) != len(queue.Lanes()) || before["bulk"] != 0 {
		t.Fatalf("before the first count: %v", before)
	}
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	<-counts
	if got := ages(t, reg); got["bulk"] < 120 || got["bulk"] > 300 || got["default"] != 0 {
		t.Errorf("after a count: %v", got)
	}
	if _, err := sql.Exec(t.Context(), "DELETE FROM job"); err != nil {
		t.Fatal(err)
	}
	<-counts // may have been read before the deletion
	<-counts
	if got := ages(t, reg); got["bulk"] != 0 {
		t.Errorf("after the last job has gone: %v", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestACountThatFailsLeavesTheGaugesAsTheyWere(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	reg := prometheus.NewRegistry()
	g := backlog.NewGauges(reg)
	g.Set([]store.Backlog{{Lane: "bulk", Oldest: time.Minute}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Postgres answers nothing with such a context
	c := &backlog.Counter{
		Store: store.New(db.App, db.System), Gauges: g, Log: testkit.Log(t),
		After: func(context.Context, []store.Backlog) { t.Error("a count succeeded") },
	}
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
	if got := ages(t, reg); got["bulk"] != 60 {
		t.Errorf("%v", got)
	}
}
