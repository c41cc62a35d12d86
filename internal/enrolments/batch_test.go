package enrolments_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestABatchLeavesOutAContactThatIsEnrolledDuringItsStep holds the second insert of a step, which follows the unique
// violation of the first one: the step waits for a transaction that has enrolled one of its contacts.
func TestABatchLeavesOutAContactThatIsEnrolledDuringItsStep(t *testing.T) {
	t.Parallel()
	o := open(t)
	all, segment := o.people(3), id.New()
	o.exec(`INSERT INTO segment (org_id, id, key, name, kind, status, created_at, updated_at)
		VALUES ($1, $2, 'all', 'All', 'static', 'ready', now(), now())`, o.org, segment)
	o.exec(`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
		SELECT org_id, $1, false, created_at, id FROM contact`, segment)
	seq := o.sequence(nil, mail("first", 0))
	var b *enrolments.Batch
	o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		b, err = o.enrol.StartBatch(ctx, tx, &enrolments.BatchRequest{
			Request: enrolments.Request{Sequence: seq, By: "user/1"}, Segment: &segment,
		})
		return err
	})
	other, err := testkit.Pgx(t, o.URL).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), `INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state,
			step, due_at, grp, mailbox_id, zone, created_at, state_at)
		VALUES ($1, gen_random_uuid(), $2, 1, $3, 'active', 'first', now(), 1, $4, 'UTC', now(), now())`, o.org, seq,
		all[1], o.mailbox); err != nil {
		t.Fatal(err)
	}
	stepped := make(chan error, 1)
	go func() {
		stepped <- o.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := o.enrol.StepBatch(ctx, tx, b.ID)
			return err
		})
	}()
	for deadline := time.Now().Add(5 * time.Minute); o.one(`SELECT count(*) FROM pg_stat_activity, pg_sleep(0.01)
		WHERE datname = current_database() AND wait_event_type = 'Lock'`) != "1"; {
		if time.Now().After(deadline) {
			t.Fatal("the step does not wait for the other transaction")
		}
	}
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-stepped; err != nil {
		t.Fatal(err)
	}
	if got := o.one(`SELECT concat_ws(' ', status, done, enrolled, skipped) FROM enrolment_batch`); got !=
		`completed 3 2 {"already_open": 1}` {
		t.Error(got)
	}
	if got := o.one(`SELECT count(*) || ' ' || count(batch_id) FROM enrolment`); got != "3 2" {
		t.Error(got)
	}
	if got := o.announced(); got != "enrolled enrolled" {
		t.Error(got)
	}
}
