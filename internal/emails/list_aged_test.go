package emails_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// sentFilters are ranges of the time of sending: of nothing, of a few emails, of many and of all; with another
// condition, and without.
func sentFilters(mailbox, contact id.ID) (all []emails.Filter) {
	var times []time.Time
	for _, ago := range []int{-1, 0, 1, 2, 30, 200, 390, 2000} {
		times = append(times, time.Now().AddDate(0, 0, -ago))
	}
	for i, at := range times {
		all = append(all, emails.Filter{SentAfter: at}, emails.Filter{SentBefore: at})
		if i > 0 {
			all = append(all, emails.Filter{SentAfter: at, SentBefore: times[i-1]})
		}
	}
	for _, f := range all {
		of := f
		f.Mailbox = &mailbox
		of.Contact = &contact
		all = append(all, f, of)
	}
	return all
}

// newestEmails lists by one plain statement.
func newestEmails(t *testing.T, tx *postgres.Tx, f *emails.Filter, below id.ID, limit int) []id.ID {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT id FROM email WHERE org_id = $1
		AND ($2::uuid IS NULL OR mailbox_id = $2) AND ($3::uuid IS NULL OR contact_id = $3)
		AND ($4::timestamptz = '0001-01-01Z' OR sent_at > $4) AND ($5::timestamptz = '0001-01-01Z' OR sent_at < $5)
		AND ($6::uuid = '00000000-0000-0000-0000-000000000000' OR id < $6) ORDER BY id DESC LIMIT $7`,
		tx.Org(), f.Mailbox, f.Contact, f.SentAfter, f.SentBefore, below, limit)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestAListOfEmailsByTheTimeOfSendingIsRightAndReadsItsPageAlone lists ranges of each length, two pages each, in the
// huge org and in the one that has grown since the last ANALYZE.
func TestAListOfEmailsByTheTimeOfSendingIsRightAndReadsItsPageAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Read(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	for _, class := range []aged.Class{aged.Huge, aged.Grown} {
		if err := d.App.ReadTx(t.Context(), d.World.Org(class).ID, func(tx *postgres.Tx) error {
			var mailbox, contact id.ID
			if err := tx.QueryRow(t.Context(), `SELECT mailbox_id, contact_id FROM email WHERE org_id = $1
				AND contact_id IS NOT NULL ORDER BY id LIMIT 1`, []any{tx.Org()}, &mailbox, &contact); err != nil {
				return err
			}
			for _, f := range sentFilters(mailbox, contact) {
				checkEmails(t, tx, r, &f, fmt.Sprintf("%s: mailbox %t, contact %t, after %s, before %s", class,
					f.Mailbox != nil, f.Contact != nil, f.SentAfter, f.SentBefore))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkEmails compares pages of f with what a plain statement finds, and their buffers with their bound.
func checkEmails(t *testing.T, tx *postgres.Tx, r *aged.Recorder, f *emails.Filter, name string) {
	t.Helper()
	r.CheckPages(name, 51, func(below id.ID, limit int) []id.ID {
		return newestEmails(t, tx, f, below, limit)
	}, func(below id.ID, limit int) (ids []id.ID) {
		all, err := emails.List(t.Context(), tx, f, below, limit)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range all {
			ids = append(ids, all[i].ID)
		}
		return ids
	})
}
