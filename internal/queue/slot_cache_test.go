package queue_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAddingManyJobsGivesAsManySlotsAsThereAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ adders, most int }{
		"one after the other": {1, queue.MaxInFlight},
		"eight at a time":     {8, queue.MaxInFlight + 8 + 8}, // jobs in flight, plus one check's credit
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, kind := testkit.DB(t), queue.Define[struct{}]("test.many", queue.Options{})
			org := id.New()
			var wait sync.WaitGroup
			for range c.adders {
				wait.Go(func() {
					for range 3 * queue.MaxInFlight / c.adders {
						if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
							return kind.Add(t.Context(), tx, struct{}{})
						}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wait.Wait()
			var slots int
			if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
				return tx.QueryRow(t.Context(), "SELECT count(*) FROM job WHERE wake_at IS NOT NULL", nil, &slots)
			}); err != nil {
				t.Fatal(err)
			}
			if slots < queue.MaxInFlight || slots > c.most {
				t.Errorf("%d jobs have a slot, want %d, or up to %d where they did not see each other", slots,
					queue.MaxInFlight, c.most)
			}
		})
	}
}

func TestChecksThatOverlapGiveTheSameFreeSlotsOnce(t *testing.T) {
	t.Parallel()
	if n := queue.OverlappingChecks(8); n != queue.CreditJobs {
		t.Errorf("%d jobs skipped a check, want %d", n, queue.CreditJobs)
	}
}

func TestAPauseHoldsForJobsThatPassUnasked(t *testing.T) {
	t.Parallel()
	db, kind := testkit.DB(t), queue.Define[struct{}]("test.many", queue.Options{})
	org, ledger := id.New(), store.New(db.App, db.System)
	add := func() (job id.ID, slot bool) {
		t.Helper()
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			return kind.Add(t.Context(), tx, struct{}{})
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), "SELECT id, wake_at IS NOT NULL FROM job ORDER BY id DESC LIMIT 1", nil,
				&job, &slot)
		}); err != nil {
			t.Fatal(err)
		}
		return job, slot
	}
	add()
	add() // the second job in a moment gives credit
	if err := db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO job_pause (scope, name) VALUES ('kind', 'test.many')")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		job, _ := add()
		if _, err := ledger.Claim(t.Context(), org, job); !errors.Is(err, store.ErrMissed) {
			t.Fatalf("a job of a paused kind was claimed: %v", err)
		}
	}
	if _, slot := add(); slot {
		t.Error("credit does not end")
	}
}
