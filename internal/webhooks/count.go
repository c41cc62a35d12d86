package webhooks

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Count returns the number of the org's endpoints, live or archived.
func (s *Service) Count(ctx context.Context, tx *postgres.Tx, archived bool) (*int64, error) {
	return countRows(ctx, tx,
		`SELECT count(*) FROM webhook_endpoint WHERE org_id = $1 AND (archived_at IS NOT NULL) = $2`, tx.Org(),
		archived)
}

func countRows(ctx context.Context, tx *postgres.Tx, sql string, args ...any) (*int64, error) {
	var n int64
	tx.Queue(postgres.PlanByDay)
	if err := tx.QueryRow(ctx, sql, args, &n); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	return &n, nil
}
