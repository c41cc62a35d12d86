package webhooks

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Count returns the number of the org's endpoints, live or archived.
func (s *Service) Count(ctx context.Context, tx *postgres.Tx, archived bool) (*int64, error) {
	return count(ctx, tx,
		`SELECT count(*) FROM webhook_endpoint WHERE org_id = $1 AND (archived_at IS NOT NULL) = $2`, tx.Org(),
		archived)
}

// CountDeliveries returns the number of an endpoint's deliveries that match f.
func (s *Service) CountDeliveries(ctx context.Context, tx *postgres.Tx, endpoint id.ID, f Filter) (*int64, error) {
	where, args := f.where(tx.Org(), endpoint)
	upper, oldest := f.bounds(id.ID{})
	return count(ctx, tx,
		fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s AND id >= $%d AND id < $%d`, f.table(len(args)), where,
			len(args)+1, len(args)+2), append(args, oldest, upper)...)
}

func count(ctx context.Context, tx *postgres.Tx, sql string, args ...any) (*int64, error) {
	var n int64
	if err := tx.QueryRow(ctx, sql, args, &n); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	return &n, nil
}
