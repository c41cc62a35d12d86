package archive

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Count counts the days that wait, once.
func (m *Metrics) Count(ctx context.Context, db *postgres.DB) error { return m.countWaiting(ctx, db) }
