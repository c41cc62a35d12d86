package enrolments

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	entriesAtOnce = 1000
	// withoutMailbox is when the entries of a sequence are looked at again that has no mailbox left.
	withoutMailbox = 10 * time.Minute
)

// entries is the contacts that entered the segment of a sequence: rows of segment_entry.
type entries struct {
	sequence, segment id.ID
	ids, contacts     []id.ID
}

// Enter enrols the contacts of tx's org that have entered the segments of sequences, with the guards of Enrol, and
// deletes their entries. If may is false, it only deletes the entries. It takes a bounded number of entries; those that
// another transaction has taken are left to that one.
func (s *Service) Enter(ctx context.Context, tx *postgres.Tx, may bool) error {
	all, err := dueEntries(ctx, tx)
	if err != nil {
		return err
	}
	for _, e := range all {
		if may {
			_, err = s.Enrol(ctx, tx, &Request{Sequence: e.sequence, By: "segment/" + e.segment.String()}, e.contacts)
		}
		switch {
		case fault.Is(err, fault.MailboxNotActive):
			tx.Queue(`UPDATE segment_entry SET due_at = clock_timestamp() + $3 WHERE org_id = $1
				AND id = ANY ($2::uuid[])`, tx.Org(), e.ids, withoutMailbox)
		case err == nil, fault.Is(err, fault.NotFound), fault.Is(err, fault.SequenceNotActive):
			tx.Queue(`DELETE FROM segment_entry WHERE org_id = $1 AND id = ANY ($2::uuid[])`, tx.Org(), e.ids)
		default:
			return err
		}
	}
	return nil
}

// dueEntries locks entries that are due, and returns them by sequence and segment in the order of these ids.
func dueEntries(ctx context.Context, tx *postgres.Tx) (all []*entries, err error) {
	rows, err := tx.Query(ctx, `
		WITH due AS MATERIALIZED (
			SELECT id, sequence_id, segment_id, contact_id FROM segment_entry
			WHERE org_id = $1 AND due_at <= clock_timestamp() ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
		) SELECT * FROM due ORDER BY sequence_id, segment_id, id`, tx.Org(), entriesAtOnce)
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	var entry, sequence, segment, contact id.ID
	if _, err := pgx.ForEachRow(rows, []any{&entry, &sequence, &segment, &contact}, func() error {
		if n := len(all); n == 0 || all[n-1].sequence != sequence || all[n-1].segment != segment {
			all = append(all, &entries{sequence: sequence, segment: segment})
		}
		e := all[len(all)-1]
		e.ids, e.contacts = append(e.ids, entry), append(e.contacts, contact)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	return all, nil
}

// enteredSQL skips from org to org, so that its cost does not depend on the number of entries per org.
const enteredSQL = `
WITH RECURSIVE o (org_id) AS (
	(SELECT org_id FROM segment_entry ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT e.org_id FROM segment_entry e WHERE e.org_id > o.org_id ORDER BY e.org_id LIMIT 1)
	FROM o WHERE o.org_id IS NOT NULL
)
SELECT o.org_id FROM o WHERE o.org_id IS NOT NULL
	AND EXISTS (SELECT FROM segment_entry e WHERE e.org_id = o.org_id AND e.due_at <= now())
	AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = o.org_id AND j.dedupe_key = $1)`

// Entered returns the orgs that have work for Enter and no open job with the given dedupe key. system must be a
// connection of the system role.
func Entered(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`)
		rows, err := tx.Query(ctx, enteredSQL, dedupe)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find orgs with entries: %w", err)
	}
	return found, nil
}
