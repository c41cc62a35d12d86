package mailmetrics

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Count is countTables.
func (m *Metrics) Count(ctx context.Context, system *postgres.DB) error {
	return m.countTables(ctx, system)
}
