package worker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

func TestThousandsOfJobsLeaveFewDeadRowsAndAreUpdatedInPlace(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.exec("ALTER TABLE job SET (autovacuum_enabled = off)")
	type number struct{ N int }
	kind := queue.Define[number]("test.number", queue.Options{})
	h.work(worker.Options{Concurrency: 20}, kind.Handle(func(_ context.Context, run *queue.Run[number]) error {
		if run.Args.N == 0 && run.Attempt == 1 {
			return queue.RetryIn(errors.New("not at once"), 0)
		}
		return nil
	}))
	orgs := make([]id.ID, 20)
	for i := range orgs {
		orgs[i] = newOrg()
	}
	// Each org's jobs fit into its slots, and are pushed after the commit.
	for range 24 {
		for _, org := range orgs {
			var adds []func(context.Context, *postgres.Tx) error
			for n := range 10 {
				adds = append(adds, adding(kind, number{n}))
			}
			h.addFor(org, adds...)
		}
		var refs []queue.Ref
		for _, j := range h.jobs() {
			refs = append(refs, j.ref())
		}
		h.push(refs...)
		h.until(giveUpAfter, "jobs done", func() bool { return h.count("SELECT count(*) FROM job") == 0 })
		h.until(giveUpAfter, "few dead rows", func() bool {
			return h.count("SELECT n_dead_tup - 5 * n_live_tup FROM pg_stat_user_tables WHERE relname = 'job'") <= 1000
		})
	}
	h.until(giveUpAfter, "statistics of all updates", func() bool {
		return h.count("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'job'") >= 4800+480
	})
	share := h.count("SELECT 100 * n_tup_hot_upd / n_tup_upd FROM pg_stat_user_tables WHERE relname = 'job'")
	if share < 70 {
		t.Errorf("%d %% of the updates were HOT, want 70 %% at least", share)
	}
}
