package events

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Feed returns at most limit events of the org after seq (0: from the oldest of the last 30 days), in the order of seq.
// If types is not empty, it returns only events of these types.
//
// A reader that continues from the last seq it saw misses no event: Feed holds back the events of open transactions and
// all later events until those transactions end, so no lower seq can appear after a higher one was returned.
func Feed(ctx context.Context, tx *postgres.Tx, after int64, types []string, limit int) ([]*Stored, error) {
	// The horizon is read in the snapshot of the statement itself, so that it matches the rows.
	sql, args := feedSQL, []any{tx.Org(), after, limit}
	if len(types) > 0 {
		sql, args = feedOfTypesSQL, append(args, types)
	}
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (*Stored, error) {
		s := &Stored{OrgID: tx.Org()}
		return s, r.Scan(&s.ID, &s.Seq, &s.Type, &s.ActorType, &s.ActorID, &s.RequestID, &s.Data, &s.CreatedAt)
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return all, nil
}

const (
	feedColumns = `SELECT id, seq, type, actor_type, actor_id, request_id, data, created_at FROM event `
	feedWhere   = `WHERE org_id = $1 AND seq > $2 AND seq < event_horizon()
		AND id >= uuid_floor(now() - interval '30 days') `
	feedOrder      = `ORDER BY seq LIMIT $3`
	feedSQL        = feedColumns + feedWhere + feedOrder
	feedOfTypesSQL = feedColumns + feedWhere + `AND type = ANY ($4) ` + feedOrder
)
