package counts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// lockSQL has the arguments of the functions that take the advisory lock of a source.
const lockSQL = `hashtext('funnelwork.counts'), hashtext(%s::text)`

// beginSQL counts a source for the first time: what there is less the deltas of the same snapshot, as of version 0,
// from which on readers add the deltas.
var beginSQL = `
	INSERT INTO outreach_count (org_id, source_id, xid, step, variant, ` + eachAmount("@") + `, marked_at)
	SELECT $1, ($2::uuid[])[1], 0, x.step, x.variant, ` + eachAmount("coalesce(sum(x.@), 0)") + `, min(x.marked_at)
	FROM (
		SELECT step, variant, ` + eachAmount("@") + `, marked_at FROM (` + live + `) AS l
		UNION ALL
		SELECT step, variant, ` + eachAmount("-@") + `, NULL FROM outreach_delta
		WHERE org_id = $1 AND source_id = ANY ($2::uuid[])
		UNION ALL
		SELECT '', '', ` + eachAmount("0") + `, NULL
	) AS x
	GROUP BY x.step, x.variant`

// Uncounted returns at most limit sources of tx's org to be counted for the first time.
func Uncounted(ctx context.Context, tx *postgres.Tx, limit int) ([]id.ID, error) {
	found, err := tx.Query(ctx, `SELECT source_id FROM outreach_uncounted WHERE org_id = $1 ORDER BY source_id
		LIMIT $2`, tx.Org(), limit)
	if err != nil {
		return nil, fmt.Errorf("find uncounted sources: %w", err)
	}
	all, err := pgx.CollectRows(found, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("find uncounted sources: %w", err)
	}
	return all, nil
}

// Begin counts a source for the first time. It does nothing if the source is counted. Changes meanwhile are in the
// counts or in deltas, not in both.
func Begin(ctx context.Context, tx *postgres.Tx, source id.ID) error {
	tx.Queue(`SELECT pg_advisory_xact_lock(`+fmt.Sprintf(lockSQL, "$1::uuid")+`)`, source)
	var counted bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM outreach_count WHERE org_id = $1 AND source_id = $2)`,
		[]any{tx.Org(), source}, &counted); err != nil {
		return fmt.Errorf("begin counts: %w", err)
	}
	if !counted {
		tx.Queue(beginSQL, tx.Org(), []id.ID{source})
	}
	tx.Queue(`DELETE FROM outreach_uncounted WHERE org_id = $1 AND source_id = $2`, tx.Org(), source)
	return tx.Flush(ctx)
}

// Waiting returns the orgs that have uncounted sources and no open job with the given dedupe key. system must be a
// connection of the system role.
func Waiting(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(byKeys)
		rows, err := tx.Query(ctx, `SELECT DISTINCT u.org_id FROM outreach_uncounted u
			WHERE NOT EXISTS (SELECT FROM job j WHERE j.org_id = u.org_id AND j.dedupe_key = $1) LIMIT 1000`, dedupe)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find orgs with uncounted sources: %w", err)
	}

	return found, nil
}
