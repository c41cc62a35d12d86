package overview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// dueSQL finds the orgs with events that are not counted, deliveries under way, or days that were last counted a day
// ago, and the zero org if an org has no state. Events lie in partitions by day; the bound on id leaves those of the
// last days. An overview that is not read is counted once a minute.
const dueSQL = `
SELECT s.org_id FROM overview_state s
WHERE s.rest_until <= now()
	AND (s.counted_at <= now() - interval '1 minute' OR s.read_at > now() - interval '10 minutes')
	AND (s.due_at <= now() OR s.whole_at <= now() - interval '1 day' OR EXISTS (
		SELECT FROM event e WHERE e.org_id = s.org_id AND e.seq > s.seq
		AND e.id >= uuid_floor(greatest(s.counted_at, now() - interval '30 days') - interval '1 hour')))
	AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = s.org_id AND j.dedupe_key = $1)
UNION ALL
(SELECT '00000000-0000-0000-0000-000000000000'::uuid FROM org o
	WHERE NOT EXISTS (SELECT FROM overview_state s WHERE s.org_id = o.id) LIMIT 1)`

// Due returns the orgs with something to count that have no open job with the dedupe key. It creates the state of new
// orgs. It reads as the system role.
func Due(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	found, err := due(ctx, system, dedupe)
	if err == nil && slices.Contains(found, id.ID{}) {
		if err = system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(`INSERT INTO overview_state (org_id) SELECT o.id FROM org o
				WHERE NOT EXISTS (SELECT FROM overview_state s WHERE s.org_id = o.id) ON CONFLICT DO NOTHING`)
			return nil
		}); err == nil {
			found, err = due(ctx, system, dedupe)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find orgs to count: %w", err)
	}
	return slices.DeleteFunc(found, id.ID.IsZero), nil
}

func due(ctx context.Context, system *postgres.DB, dedupe string) (found []id.ID, err error) {
	err = system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
			set_config('plan_cache_mode', 'force_generic_plan', true)`)
		rows, err := tx.Query(ctx, dueSQL, dedupe)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	return found, err
}

// patience bounds the time that Refresh takes.
const patience = time.Second

// readSQL records a read of an overview, once a minute, and returns whether it was not read for ten minutes before. A
// row that a count holds is left alone.
const readSQL = `
UPDATE overview_state s SET read_at = now()
FROM (
	SELECT org_id, read_at FROM overview_state WHERE org_id = $1 AND read_at < now() - interval '1 minute'
	FOR NO KEY UPDATE SKIP LOCKED
) was
WHERE s.org_id = was.org_id RETURNING was.read_at < now() - interval '10 minutes'`

// Refresh is to be called before an overview is read. It records the read, which keeps the counts a few seconds old for
// the next ten minutes, and brings counts that were not kept so up to date. It takes at most a second: if a count takes
// longer, the job counts, and the reader sees the last counts. The overview can be read after an error, too.
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
		err = db.Tx(short, org, func(tx *postgres.Tx) error { return Count(short, tx) })
	}
	if err != nil && short.Err() == nil {
		return fmt.Errorf("refresh overview: %w", err)
	}
	return nil
}
