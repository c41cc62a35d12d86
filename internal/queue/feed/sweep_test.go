package feed_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/feed"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestNoneOfThousandsOfOrgsWaitsLongerThanTwiceItsTurn has 1,500 orgs with old jobs and 3,000 with one new job each. A
// turn is as many rounds as it takes to serve each org once.
func TestNoneOfThousandsOfOrgsWaitsLongerThanTwiceItsTurn(t *testing.T) {
	t.Parallel()
	const (
		orgs  = 4500
		slots = 300
		turn  = orgs / slots
	)
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	if _, err := sql.Exec(t.Context(), `
		INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, due)
		SELECT md5(o::text)::uuid, gen_random_uuid(), 'test.a', '{}', 'default', 3,
			now() - CASE WHEN o % 3 = 0 THEN interval '1 day' ELSE interval '1 minute' END + n * interval '1 ms', true
		FROM generate_series(1, $1::int) AS o, generate_series(1, CASE WHEN o % 3 = 0 THEN 12 ELSE 1 END) AS n`,
		orgs); err != nil {
		t.Fatal(err)
	}
	if _, err := sql.Exec(t.Context(), `ANALYZE job`); err != nil {
		t.Fatal(err)
	}
	feeder, served := feed.New(store.New(db.App, db.System)), map[id.ID]int{}
	for round := 1; len(served) < orgs && round <= 2*turn; round++ {
		refs, err := feeder.Round(t.Context(), queue.Default, slots)
		if err != nil {
			t.Fatal(err)
		}
		of, ids := make([]id.ID, len(refs)), make([]id.ID, len(refs))
		for i, ref := range refs {
			of[i], ids[i] = ref.Org, ref.ID
			if served[ref.Org] == 0 {
				served[ref.Org] = round
			}
		}
		if _, err := sql.Exec(t.Context(), `DELETE FROM job USING unnest($1::uuid[], $2::uuid[]) AS d (org_id, id)
			WHERE job.org_id = d.org_id AND job.id = d.id`, of, ids); err != nil {
			t.Fatal(err)
		}
	}
	if len(served) < orgs {
		t.Errorf("%d of %d orgs got no slot in %d rounds of %d slots", orgs-len(served), orgs, 2*turn, slots)
	}
}
