package store

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// furthest is further ahead than a lease ever is.
const furthest = `interval '1 minute'`

// wakeAheadSQL makes jobs due for a check whose wake_at lies too far ahead. A run that goes on extends its lease within
// the time that it gets.
const wakeAheadSQL = `
WITH ahead AS MATERIALIZED (
	SELECT ctid AS at FROM job WHERE wake_at > now() + ` + furthest + `
	ORDER BY wake_at DESC LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET
	wake_at = CASE WHEN owner IS NULL THEN now() ELSE now() + $1::interval END,
	lease_until = CASE WHEN owner IS NULL THEN lease_until ELSE now() + $1::interval END
FROM ahead WHERE job.ctid = ahead.at`

// WakeAhead makes the jobs due for a check that Stops reports as Ahead, at most limit, and returns how many. The clock
// of Postgres may be set back, by hand or by a failover to a server with another clock; what it stamped before would
// wait until it has come that far again.
func (s *Store) WakeAhead(ctx context.Context, limit int) (woken int64, err error) {
	err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(ByKeySQL)
		woken, err = tx.Exec(ctx, wakeAheadSQL, s.Lease, limit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("wake jobs of a clock ahead: %w", err)
	}
	return woken, nil
}
