package wordindex

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Large is the number of contacts from which an org gets an index. With fewer contacts, INTERSECT takes less than 50
// ms.
const Large = 50_000

// Due returns the orgs for which Sync has work and which have no open job with the dedupe key. It reads as the system
// role.
func Due(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(planning)
		rows, err := tx.Query(ctx, `SELECT w.org_id FROM word_index w WHERE w.due
			AND (w.fence IS NULL OR w.fence <= pg_snapshot_xmin(pg_current_snapshot()))
			AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = w.org_id AND j.dedupe_key = $1)`, dedupe)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find due word indexes: %w", err)
	}

	return found, nil
}

// SweepMarks makes each index due that has at least marks marks.
func SweepMarks(ctx context.Context, system *postgres.DB, marks int) error {
	return sweepIndexes(ctx, system, `UPDATE word_index w SET due = true WHERE NOT due
		AND EXISTS (SELECT FROM word_index_mark m WHERE m.org_id = w.org_id OFFSET $1 - 1)`, marks)
}

// SweepOrgs creates the index of each org that has none and at least the given number of contacts. It counts the
// contacts of every org without an index, up to that number.
func SweepOrgs(ctx context.Context, system *postgres.DB, contacts int) error {
	return sweepIndexes(ctx, system, `INSERT INTO word_index (org_id) SELECT o.id FROM org o
		WHERE NOT EXISTS (SELECT FROM word_index w WHERE w.org_id = o.id)
			AND EXISTS (SELECT FROM contact c WHERE c.org_id = o.id OFFSET $1 - 1)
		ON CONFLICT DO NOTHING`, contacts)
}

func sweepIndexes(ctx context.Context, system *postgres.DB, sql string, least int) error {
	err := system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(planning)
		tx.Queue(sql, least)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sweep word indexes: %w", err)
	}
	return nil
}
