package overview

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// patience bounds the time that Refresh takes.
const patience = time.Second

// readSQL records a read of an overview, once a minute, and returns whether it was not read for ten minutes before. The
// overview is looked at next. A row that a count holds is left alone.
const readSQL = `
UPDATE overview_state s SET read_at = now(), look_at = now()
FROM (
	SELECT org_id, read_at FROM overview_state WHERE org_id = $1 AND read_at < now() - interval '1 minute'
	FOR NO KEY UPDATE SKIP LOCKED
) was
WHERE s.org_id = was.org_id RETURNING was.read_at < now() - interval '10 minutes'`

// Refresh is to be called before an overview is read. It records the read, which keeps the counts a few seconds old for
// the next ten minutes, and brings counts that were not kept so up to date if that reads a few rows. Otherwise, or if
// it takes longer than a second, the job counts at once, and the reader sees the last counts. The overview can be read
// after an error, too.
func Refresh(ctx context.Context, db *postgres.DB, org id.ID) error {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	stale := false
	err := db.Tx(short, org, func(tx *postgres.Tx) error {
		err := tx.QueryRow(short, readSQL, []any{org}, &stale)
		if postgres.None(err) {
			return nil
		}
		return err
	})
	if err == nil && stale {
		err = db.Tx(short, org, func(tx *postgres.Tx) error { return countFew(short, tx) })
	}
	if err != nil && short.Err() == nil {
		return fmt.Errorf("refresh overview: %w", err)
	}

	return nil
}

// fewRows is the maximum number of rows of an org that a reader counts.
const fewRows = 100

// recentDays is the number of days whose events a reader looks into. If there may be older ones that are not counted,
// it counts all days instead: a statement locks each day partition of events that it reads.
const recentDays = 3

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fewSQL returns whether a count of what is new reads at most $2 rows of each kind: events of the feed from $3 to
// before $4 with ids from $5 on, deliveries from $6 on, both before $9, and the messages and emails since $7, the first
// of whose ids is $8.
const fewSQL = `
SELECT NOT EXISTS (SELECT FROM event WHERE org_id = $1 AND seq > $3 AND seq < $4 AND id >= $5
		AND id < $9 ORDER BY seq OFFSET $2)
	AND NOT EXISTS (SELECT FROM webhook_delivery WHERE org_id = $1 AND id >= $6 AND id < $9 ORDER BY id OFFSET $2)
	AND NOT EXISTS (SELECT FROM message WHERE org_id = $1 AND id >= $8 ORDER BY id OFFSET $2)
	AND NOT EXISTS (SELECT FROM mailbox m CROSS JOIN LATERAL (SELECT FROM email WHERE org_id = $1
		AND mailbox_id = m.id AND marked_at >= $7 LIMIT $2 + 1) AS e WHERE m.org_id = $1 OFFSET $2)`

// fewRecordsSQL returns whether a count of all days reads at most $2 rows of each kind, with the deliveries from $3 on
// and before $4.
const fewRecordsSQL = `SELECT NOT EXISTS (SELECT FROM contact WHERE org_id = $1 OFFSET $2)
	AND NOT EXISTS (SELECT FROM deal WHERE org_id = $1 OFFSET $2)
	AND NOT EXISTS (SELECT FROM webhook_delivery WHERE org_id = $1 AND id >= $3 AND id < $4 OFFSET $2)`

// countFew is Count if that reads a few rows. Otherwise it makes the org due. The counts that Count makes again from
// time to time are left to the job.
func countFew(ctx context.Context, tx *postgres.Tx) error {
	s, err := readState(ctx, tx)
	if err != nil || s == nil {
		return err
	}

	recent := s.now.AddDate(0, 0, -recentDays)
	s.whole = s.never || s.since.Before(recent)
	s.late = false
	yesterday := s.now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	few := false
	args := []any{
		tx.Org(), fewRows, s.seq, s.horizon, id.Floor(laterOf(s.since, recent)), s.alreadyEnded().before, yesterday,
		id.Floor(yesterday), s.newestBound(),
	}
	if err := tx.QueryRow(ctx, fewSQL, args, &few); err != nil {
		return fmt.Errorf("look how much there is to count: %w", err)
	}

	var n news
	if few && !s.whole {
		if n, err = s.readNews(ctx, tx); err != nil {
			return err
		}
	}
	if s.whole = s.whole || n.whole; few && s.whole {
		args := []any{tx.Org(), fewRows, s.alreadyEnded().before, s.newestBound()}
		if err := tx.QueryRow(ctx, fewRecordsSQL, args, &few); err != nil {
			return fmt.Errorf("look how many records there are to count: %w", err)
		}
	}
	if !few {
		tx.Queue(`UPDATE overview_state SET due_at = now(), look_at = now() WHERE org_id = $1`, tx.Org())
		return nil
	}

	return s.countNews(ctx, tx, n)
}
