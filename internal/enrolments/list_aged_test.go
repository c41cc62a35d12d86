package enrolments_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// enrolmentFilters are the filters of a sequence's list: each state with each of a few steps and reasons, and without.
func enrolmentFilters(sequence, contact id.ID) (all []enrolments.Filter) {
	for _, state := range append(states.All(), "") {
		for _, step := range []string{"", "s1", "s3", "none"} {
			for _, reason := range []string{"", "no_address", "suppressed", "none"} {
				f := enrolments.Filter{Sequence: &sequence, Step: step, Reason: reason}
				if state != "" {
					f.States = []string{state}
				}
				all = append(all, f)
			}
		}
	}
	return append(all,
		enrolments.Filter{Sequence: &sequence, States: []string{states.Replied, states.Active}},
		enrolments.Filter{Sequence: &sequence, Contact: &contact},
		enrolments.Filter{Sequence: &sequence, Contact: &contact, States: []string{states.Active}},
		enrolments.Filter{Contact: &contact})
}

// newestEnrolments lists by one plain statement.
func newestEnrolments(t *testing.T, tx *postgres.Tx, f *enrolments.Filter, before id.ID, limit int) []id.ID {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT id FROM enrolment WHERE org_id = $1
		AND ($2::uuid IS NULL OR sequence_id = $2) AND ($3::uuid IS NULL OR contact_id = $3)
		AND ($4::text[] IS NULL OR state = ANY ($4)) AND ($5::text = '' OR step = $5)
		AND ($6::text = '' OR reason = $6)
		AND ($7::uuid = '00000000-0000-0000-0000-000000000000' OR id < $7) ORDER BY id DESC LIMIT $8`,
		tx.Org(), f.Sequence, f.Contact, f.States, f.Step, f.Reason, before, limit)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestAListOfEnrolmentsOfAnAgedOrgIsRightAndReadsItsPageAlone lists by each state, step and reason, two pages each, in
// the huge org and in the one that has grown since the last ANALYZE.
func TestAListOfEnrolmentsOfAnAgedOrgIsRightAndReadsItsPageAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	for _, class := range []aged.Class{aged.Huge, aged.Grown} {
		org := d.World.Org(class).ID
		var sequence, contact id.ID
		if err := d.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			tx.Queue(`UPDATE enrolment SET reason = 'suppressed' WHERE org_id = $1 AND state = 'unsubscribed'
				AND get_byte(uuid_send(id), 15) < 40`, tx.Org())
			return tx.QueryRow(t.Context(), `SELECT sequence_id, (SELECT contact_id FROM enrolment WHERE org_id = $1
				AND sequence_id = n.sequence_id ORDER BY id LIMIT 1) FROM enrolment n WHERE org_id = $1
				GROUP BY sequence_id ORDER BY count(*) DESC LIMIT 1`, []any{org}, &sequence, &contact)
		}); err != nil {
			t.Fatal(err)
		}
		if err := d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
			for _, f := range enrolmentFilters(sequence, contact) {
				name := fmt.Sprintf("%s: contact %t, states %v, step %q, reason %q", class, f.Contact != nil, f.States,
					f.Step, f.Reason)
				checkEnrolments(t, tx, r, &f, name)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkEnrolments compares pages of f with what a plain statement finds, and their buffers with their bound.
func checkEnrolments(t *testing.T, tx *postgres.Tx, r *aged.Recorder, f *enrolments.Filter, name string) {
	t.Helper()
	r.CheckPages(name, 51, func(before id.ID, limit int) []id.ID {
		return newestEnrolments(t, tx, f, before, limit)
	}, func(before id.ID, limit int) (ids []id.ID) {
		all, err := enrolments.List(t.Context(), tx, f, before, limit)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range all {
			ids = append(ids, all[i].ID)
		}
		return ids
	})
}
