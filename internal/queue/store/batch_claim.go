package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// claimAllSQL is T5 for many jobs. It skips locked rows; their claims are retried alone.
const claimAllSQL = `
WITH mine AS MATERIALIZED (
	SELECT one.at, m.owner
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS m (org_id, id, owner)
	CROSS JOIN LATERAL (
		SELECT job.ctid AS at FROM job
		WHERE job.org_id = m.org_id AND job.id = m.id AND` + hasSlot + ` AND` + lapsed + may + `
		FOR UPDATE OF job SKIP LOCKED
	) AS one
)
UPDATE job SET owner = mine.owner, lease_until = now() + $4::interval
FROM mine WHERE job.ctid = mine.at
RETURNING job.owner,` + claimed

func (s *Store) claimAll(ctx context.Context, load []*batchCall) error {
	orgs, ids, owners := make([]id.ID, len(load)), make([]id.ID, len(load)), make([]id.ID, len(load))
	byOwner := make(map[id.ID]*batchCall, len(load))
	for i, a := range load {
		orgs[i], ids[i], owners[i] = a.claim.Org, a.claim.ID, *a.claim.Fence
		byOwner[owners[i]] = a
	}
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(ByKeysSQL + AsyncCommitSQL)
		tx.Queue(claimAllSQL, orgs, ids, owners, s.Lease).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			for rows.Next() {
				var owner id.ID
				var got queue.Claimed
				if err := scanClaimed(rows, &got, &owner); err != nil {
					return err
				}
				a := byOwner[owner]
				got.ID, got.Org, got.Fence = a.claim.ID, a.claim.Org, a.claim.Fence
				*a.claim, a.ok = got, true
			}
			return rows.Err()
		})
		return nil
	})
}
