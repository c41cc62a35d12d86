package operator

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

const showSQL = `SELECT` + columns + `, d.died_at, job.args
FROM job LEFT JOIN job_death d ON d.org_id = job.org_id AND d.id = job.id
WHERE job.org_id = $1 AND job.id = $2`

// Show returns one job with its arguments, which are ids. It returns nil if the job does not exist.
func (o *Operator) Show(ctx context.Context, k Key) (*Job, error) {
	var j Job
	err := o.store.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(store.ByKeySQL)
		return tx.QueryRow(ctx, showSQL, []any{k.Org, k.ID}, append(j.scanTargets(), &j.Args)...)
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // no job is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("show job: %w", err)
	}
	j.Kind = o.store.Aliases.Name(j.Kind)
	return &j, nil
}

// locateSQL steps from org to org, because the primary key begins with the org. An index by id alone would make every
// insert more expensive.
const locateSQL = `
WITH RECURSIVE o (org_id) AS (
	(SELECT org_id FROM job ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT j.org_id FROM job j WHERE j.org_id > o.org_id ORDER BY j.org_id LIMIT 1) FROM o
	WHERE o.org_id IS NOT NULL
)
SELECT job.org_id, job.id FROM o JOIN job ON job.org_id = o.org_id AND job.id = ANY ($1::uuid[])`

// Locate finds jobs by id alone. Ids without a job are left out.
func (o *Operator) Locate(ctx context.Context, ids ...id.ID) ([]Key, error) {
	keys, err := collectRows(ctx, o, "locate jobs", pgx.RowToStructByPos[Key], locateSQL, ids)
	slices.SortFunc(keys, func(a, b Key) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return keys, err
}
