package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

// The first run of each job loses its session in the middle of a statement, as in a crash or a restart.
func TestASessionLostInTheMiddleOfAWorkSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rows alone", "calls out"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			var runs atomic.Int32
			work := func(ctx context.Context, tx *postgres.Tx) error {
				if runs.Add(1) > 1 {
					return nil
				}
				_, err := tx.Exec(ctx, "SELECT pg_sleep(60)")
				return err
			}
			kind := queue.Define[none]("test.cut", queue.Options{Backoff: func(int) time.Duration { return time.Hour }})
			handler := kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
				if err := markWork(ctx, tx, run); err != nil {
					return err
				}
				return work(ctx, tx)
			})
			if name == "calls out" {
				handler = kind.Handle(func(ctx context.Context, run *queue.Run[none]) error {
					if err := h.db.App.Tx(ctx, run.Org, func(tx *postgres.Tx) error {
						return work(ctx, tx)
					}); err != nil {
						return err
					}
					run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
					return nil
				})
			}
			h.work(worker.Options{}, handler)
			h.add(adding(kind, none{}))
			h.push(h.only().ref())
			cut := func() bool {
				return h.count("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "+
					"current_database() AND query LIKE 'SELECT pg_sleep%'") > 0
			}
			h.until(giveUpAfter, "the first run's session was cut", cut)
			h.until(2*most, "the second run is done", func() bool {
				cut() // again: a statement that had not begun yet is sent once more, in another session
				return len(h.jobs()) == 0
			})
			type facts struct {
				First, Effects int
				Runs           int32
			}
			if diff := cmp.Diff(facts{1, 1, 2}, facts{
				h.count("SELECT count(*) FROM done WHERE note = 'attempt 1'"), h.doneRows(), runs.Load(),
			}); diff != "" {
				t.Errorf("effects and runs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAServerThatTakesNoWritesSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"25006", "53100", "58030"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			var runs atomic.Int32
			kind := queue.Define[none]("test.refused",
				queue.Options{Backoff: func(int) time.Duration { return time.Hour }})
			handler := kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
				if err := markWork(ctx, tx, run); err != nil {
					return err
				}
				if runs.Add(1) > 1 {
					return nil
				}
				_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE 'planted' USING ERRCODE = '"+state+"'; END $$")
				return err
			})
			h.work(worker.Options{}, handler)
			h.add(adding(kind, none{}))
			h.push(h.only().ref())
			h.until(most, "the second run is done", func() bool { return len(h.jobs()) == 0 })
			if n := h.count("SELECT count(*) FROM done WHERE note = 'attempt 1'"); n != 1 || runs.Load() != 2 {
				t.Errorf("%d runs, %d of attempt 1 count", runs.Load(), n)
			}
		})
	}
}
