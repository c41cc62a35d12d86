package platformredrive_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/platformredrive"
)

func TestARunGoesOnUntilNothingFitsAndAnotherFindsNothingToDo(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	if _, err := sql.Exec(t.Context(), `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, state, last_error)
		SELECT gen_random_uuid(), gen_random_uuid(), 'a.kind', '{}', 'default', 3, 'dead', 'no'
		FROM generate_series(1, 700)`); err != nil {
		t.Fatal(err)
	}
	o := operator.New(store.New(db.App, db.System), nil)
	r, err := o.StartRedrive(t.Context(), operator.By{Actor: "ada"}, operator.Filter{Kind: "a.kind"}, 1000,
		func(ctx context.Context, tx *postgres.Tx, which id.ID) error {
			return platformredrive.Kind.Add(ctx, tx, platformredrive.Args{Redrive: which})
		})
	if err != nil {
		t.Fatal(err)
	}
	var c queue.Claimed
	if err := sql.QueryRow(t.Context(), `SELECT id, kind, args FROM job WHERE kind = 'platform.redrive'`).
		Scan(&c.ID, &c.Kind, &c.Raw); err != nil {
		t.Fatal(err)
	}
	for range 2 { // must be safe to repeat
		if err := (platformredrive.Job{Operator: o}).Handler().Call(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
	}
	all, err := o.Redrives(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d redrives, want 1: %+v", len(all), all)
	}
	want := all[0]
	want.ID, want.Done, want.Cancelled = r.ID, 700, false
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Errorf("the redrive (-want +got):\n%s", diff)
	}
	if all[0].EndedAt == nil {
		t.Error("the redrive has not ended")
	}
	// The rate is an upper limit: the number of jobs fits the time.
	if took := all[0].EndedAt.Sub(all[0].CreatedAt).Seconds(); took < 0.69 {
		t.Errorf("700 at 1000 per second took %.3f s", took)
	}
}
