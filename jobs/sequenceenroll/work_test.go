package sequenceenroll_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/sequenceenroll"
)

const (
	settings = `{"mailbox_ids": ["%s"], "rotation": "sticky", "late_after_hours": 24, "schedule": {"time_zone": "UTC",
		"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "from": "00:00", "to": "24:00", "holidays": []}}`
	step = `{"key": "first", "kind": "email", "delay": {"value": 0, "unit": "days"},
		"email": {"subject": "Hello", "text": "Good day", "thread": "new"}}`
)

// A batch of 2,500 contacts takes three steps. Runs that are cancelled, that end their visit after a step, and that run
// beside each other leave each contact enrolled once.
func TestRunsThatAreCutShortAndRunTwiceEnrolEachContactOnce(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	org, box, sequence, segment := id.New(), id.New(), id.New(), id.New()
	sql := testkit.Pgx(t, db.URL)
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, []any{org}},
		{`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, daily_cap, gap_min,
			gap_max, time_zone, created_at, updated_at) VALUES ($1, $2, 'Box', 'sandbox', 'a@shop.example',
			'a@shop.example', 'shop.example', 'active', NULL, 0, 0, 'UTC', now(), now())`, []any{org, box}},
		{`INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at)
			VALUES ($1, $2, 'S', 's', 'active', 1, 1, now(), now())`, []any{org, sequence}},
		{
			`INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at, activated_at)
			VALUES ($1, $2, 1, replace($3, '%s', $4)::json, now(), now())`,
			[]any{org, sequence, settings, box.String()},
		},
		{`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
			VALUES ($1, $2, 1, 0, 'first', 'email', $3)`, []any{org, sequence, step}},
		{`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
				created_at, updated_at)
			SELECT $1, gen_random_uuid(), 'c' || n || '@example.com', 'c' || n || '@example.com', 'A', 'B', 'b', 'lead',
				now() - interval '1 hour', now() FROM generate_series(1, 2500) n`, []any{org}},
		{`INSERT INTO segment (org_id, id, key, name, kind, status, created_at, updated_at)
			VALUES ($1, $2, 'all', 'All', 'static', 'ready', now(), now())`, []any{org, segment}},
		{`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
			SELECT org_id, $2, false, created_at, id FROM contact WHERE org_id = $1`, []any{org, segment}},
	} {
		if _, err := sql.Exec(t.Context(), s.sql, s.args...); err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
	}
	job := sequenceenroll.Job{
		App: db.App, Enrolments: &enrolments.Service{Suppressions: &suppression.Service{Box: testkit.Box(t)}},
	}
	var batch *enrolments.Batch
	if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		batch, err = job.Enrolments.StartBatch(t.Context(), tx, &enrolments.BatchRequest{
			Request: enrolments.Request{Sequence: sequence}, Segment: &segment,
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	work := func(ctx context.Context, j sequenceenroll.Job) error {
		return j.Work(ctx, &queue.Run[sequenceenroll.Args]{
			Claimed: &queue.Claimed{Org: org, Attempt: 1, MaxAttempts: 2},
			Args:    sequenceenroll.Args{Batch: batch.ID},
		})
	}
	progress := func() (s string) {
		if err := sql.QueryRow(t.Context(), `SELECT concat_ws(' ', status, done, enrolled) FROM enrolment_batch`).
			Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	_, snoozed := queue.SnoozeOf(work(t.Context(), job))
	if !snoozed || progress() != "running 1000 1000" {
		t.Fatalf("a visit that ends after a step: snoozed %v, %s", snoozed, progress())
	}
	long := job
	long.Pace = sequenceenroll.Pace{Visit: time.Hour, Step: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, long) }()
	for deadline := time.Now().Add(5 * time.Minute); progress() != "running 2000 2000"; {
		if time.Now().After(deadline) {
			t.Fatal(progress())
		}
	}
	cancel() // in the pause
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("a run that is cancelled: %v", err)
	}
	long.Pace.Step = 0
	both := make(chan error, 2)
	for range 2 {
		go func() { both <- work(t.Context(), long) }()
	}
	if err := errors.Join(<-both, <-both); err != nil {
		t.Fatal(err)
	}
	var enrolled, contacts, announced int
	if err := sql.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM enrolment),
		(SELECT count(DISTINCT contact_id) FROM enrolment),
		(SELECT count(*) FROM event WHERE type = 'sequence.enrolled')`).Scan(&enrolled, &contacts,
		&announced); err != nil {
		t.Fatal(err)
	}
	if enrolled != 2500 || contacts != 2500 || announced != 2500 || progress() != "completed 2500 2500" {
		t.Errorf("%d enrolments of %d contacts, %d events, %s", enrolled, contacts, announced, progress())
	}
}
