package events

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Feed answers at most limit events of the org after seq (0: from the oldest of the last 30 days), in the order
// of seq, of the named types (none: all).
//
// A reader that goes on from the last seq it saw misses nothing: events of transactions that are still open, and
// all that came after the oldest of them, are held back until they are committed, and no lower seq can appear
// once a higher one was shown.
func Feed(ctx context.Context, tx *postgres.Tx, after int64, types []string, limit int) ([]*Stored, error) {
	// The horizon is taken by the statement's own snapshot, the one that its rows are seen by.
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
	feedColumns    = `SELECT id, seq, type, actor_type, actor_id, request_id, data, created_at FROM event `
	feedWhere      = `WHERE org_id = $1 AND seq > $2 AND seq < event_horizon() AND id >= uuid_floor(now() - interval '30 days') `
	feedOrder      = `ORDER BY seq LIMIT $3`
	feedSQL        = feedColumns + feedWhere + feedOrder
	feedOfTypesSQL = feedColumns + feedWhere + `AND type = ANY ($4) ` + feedOrder
)
