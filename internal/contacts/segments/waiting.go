package segments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// manyTallies is the number of tallies of one org above which they justify a job by themselves. Every run adds them up.
const manyTallies = 200

// withoutJob leaves the orgs o that have no open job with the dedupe key $1.
const withoutJob = `
WHERE o.org_id IS NOT NULL AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = o.org_id AND j.dedupe_key = $1)`

// waitingSQL skips from org to org, so that its cost does not depend on the number of marks per org.
const waitingSQL = `
WITH RECURSIVE marked (org_id) AS (
	(SELECT org_id FROM segment_mark ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT m.org_id FROM segment_mark m WHERE m.org_id > marked.org_id ORDER BY m.org_id LIMIT 1)
	FROM marked WHERE marked.org_id IS NOT NULL
)
SELECT o.org_id FROM (
	SELECT org_id FROM marked
	UNION SELECT org_id FROM segment WHERE status = 'building' AND archived_at IS NULL) AS o` + withoutJob

// talliedSQL skips from org to org, too. Tallies of static segments stay until there are many, so it reads an entry of
// nearly every org that has such segments.
const talliedSQL = `
WITH RECURSIVE o (org_id) AS (
	(SELECT org_id FROM segment_tally ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT t.org_id FROM segment_tally t WHERE t.org_id > o.org_id ORDER BY t.org_id LIMIT 1)
	FROM o WHERE o.org_id IS NOT NULL
)
SELECT o.org_id FROM o` + withoutJob + `
	AND EXISTS (SELECT FROM segment_tally t WHERE t.org_id = o.org_id OFFSET $2)`

// Waiting returns the orgs that have work for Sync and no open job with the given dedupe key. system must be a
// connection of the system role.
func Waiting(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	return findOrgs(ctx, system, waitingSQL, dedupe)
}

// Tallied returns the orgs with so many tallies that Sync should add them up, and without an open job with the given
// dedupe key. It walks over all orgs with static segments. system must be a connection of the system role.
func Tallied(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	return findOrgs(ctx, system, talliedSQL, dedupe, manyTallies)
}

func findOrgs(ctx context.Context, system *postgres.DB, sql string, args ...any) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`)
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find orgs with marks: %w", err)
	}
	return found, nil
}
