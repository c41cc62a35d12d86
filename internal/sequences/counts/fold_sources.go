package counts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// foldSQL folds the sources $2 of the orgs $1, whose locks are held, as of the version $3. Numbers above $4 are of no
// transaction of this cluster. Sources that are not counted lose their deltas: their first count includes what these
// say.
var foldSQL = `
	WITH source AS MATERIALIZED (
		SELECT u.org_id, u.id, c.xid AS version, CASE WHEN c.xid <= $4 THEN c.xid ELSE 0 END AS low
		FROM unnest($1::uuid[], $2::uuid[]) AS u (org_id, id)
		LEFT JOIN LATERAL (SELECT o.xid FROM outreach_count o WHERE o.org_id = u.org_id AND o.source_id = u.id
			ORDER BY o.xid DESC LIMIT 1) AS c ON true
	), gone AS (
		DELETE FROM outreach_delta d USING source s WHERE d.org_id = s.org_id AND d.source_id = s.id AND d.xid >= s.low
			AND (d.xid < $3 OR d.xid > $4)
		RETURNING d.*, s.version
	), old AS (
		DELETE FROM outreach_count c USING (SELECT DISTINCT org_id, source_id, version FROM gone) AS g
		WHERE c.org_id = g.org_id AND c.source_id = g.source_id AND c.xid = g.version
		RETURNING c.*
	)
	INSERT INTO outreach_count (org_id, source_id, xid, step, variant, ` + eachAmount("@") + `, marked_at, unmarked_at)
	SELECT org_id, source_id, $3, step, variant, ` + eachAmount("coalesce(sum(@), 0)") + `, min(marked_at),
		CASE WHEN min(unmarked_at) <= min(marked_at) THEN min(unmarked_at) END
	FROM (
		SELECT org_id, source_id, step, variant, ` + eachAmount("@") + `, marked_at, unmarked_at FROM old
		UNION ALL
		SELECT org_id, source_id, step, variant, ` + eachAmount("@") + `, marked_at, unmarked_at FROM gone
		WHERE version IS NOT NULL
	) AS x
	GROUP BY org_id, source_id, step, variant`

// firstSQL looks up the first marks that were taken away.
var firstSQL = `
	UPDATE outreach_count c SET unmarked_at = NULL,
		marked_at = (` + firstMark("c.org_id", "c.source_id", "c.step", "c.variant") + `)
	FROM unnest($1::uuid[], $2::uuid[]) AS u (org_id, id)
	WHERE c.org_id = u.org_id AND c.source_id = u.id AND c.xid = $3 AND c.unmarked_at IS NOT NULL`

// foldSources folds sources in one transaction, but those that another transaction folds or counts, and returns them.
func foldSources(ctx context.Context, db *postgres.DB, sources []source) (folded []source, err error) {
	err = db.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(byKeys + `, set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
			set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`)
		if folded, err = lockFree(ctx, tx, sources); err != nil || len(folded) == 0 {
			return err
		}
		// Every writer below the horizon has ended by now, so the next statement sees its deltas.
		var low, high int64
		if err := tx.QueryRow(ctx, `SELECT event_horizon() >> 12,
			pg_snapshot_xmax(pg_current_snapshot())::text::bigint`, nil, &low, &high); err != nil {
			return err
		}
		orgs, ids := splitSources(folded)
		tx.Queue(foldSQL, orgs, ids, low, high)
		tx.Queue(firstSQL, orgs, ids, low)
		return tx.Flush(ctx)
	})
	return folded, err
}

// lockFree locks the sources that no other transaction has locked, and returns them.
func lockFree(ctx context.Context, tx *postgres.Tx, sources []source) ([]source, error) {
	orgs, ids := splitSources(sources)
	rows, err := tx.Query(ctx, `SELECT u.org_id, u.id FROM unnest($1::uuid[], $2::uuid[]) AS u (org_id, id)
		WHERE pg_try_advisory_xact_lock(`+fmt.Sprintf(lockSQL, "u.id")+`)`, orgs, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (s source, err error) {
		return s, row.Scan(&s.org, &s.id)
	})
}

// splitSources returns the orgs of sources and the sources themselves.
func splitSources(sources []source) (orgs, ids []id.ID) {
	for _, s := range sources {
		orgs, ids = append(orgs, s.org), append(ids, s.id)
	}
	return orgs, ids
}
