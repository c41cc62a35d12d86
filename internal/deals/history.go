package deals

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// SetUpdated queues setting updated_at of the deals to times of the past; see record.Table.SetUpdated.
func SetUpdated(tx *postgres.Tx, ids []id.ID, at []time.Time) { table.SetUpdated(tx, ids, at) }
