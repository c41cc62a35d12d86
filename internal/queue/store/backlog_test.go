package store_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestACrowdOfDelayedJobsIsEstimatedInItsOwnLane(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	for _, s := range []string{
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at)
		SELECT gen_random_uuid(), gen_random_uuid(), 'test.a', '{}', 'default', 3, now() + interval '1 hour' + g *
		interval '1 s' FROM generate_series(1, 20000) AS g`,
		"ANALYZE job",
	} {
		if _, err := sql.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	lanes, err := store.New(db.App, db.System).Backlogs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lanes {
		for stage, n := range b.Counts {
			if b.Lane == queue.Default && stage == store.StageDelayed {
				if n < 18_000 || n > 22_000 {
					t.Errorf("%d of 20,000 delayed", n)
				}
			} else if n != 0 {
				t.Errorf("%s %s: %d, want none", b.Lane, stage, n)
			}
		}
	}
}
