package webhooks

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Count is how many endpoints the org has, live or archived.
func (s *Service) Count(ctx context.Context, tx *postgres.Tx, archived bool) (*int64, error) {
	return count(ctx, tx, `SELECT count(*) FROM webhook_endpoint WHERE org_id = $1 AND (archived_at IS NOT NULL) = $2`, tx.Org(), archived)
}

// CountDeliveries is how many deliveries an endpoint has, of one status or, with "", of any.
func (s *Service) CountDeliveries(ctx context.Context, tx *postgres.Tx, endpoint id.ID, status Status) (*int64, error) {
	if status == "" {
		return count(ctx, tx, `SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND endpoint_id = $2`, tx.Org(), endpoint)
	}
	return count(ctx, tx, `SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND endpoint_id = $2 AND status = $3`, tx.Org(), endpoint, string(status))
}

func count(ctx context.Context, tx *postgres.Tx, sql string, args ...any) (*int64, error) {
	var n int64
	if err := tx.QueryRow(ctx, sql, args, &n); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	return &n, nil
}
