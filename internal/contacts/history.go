package contacts

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// SetUpdated queues setting updated_at of the contacts to times of the past, one for each. It is for history that is
// written afterwards: a change through the other functions is a change of now.
func SetUpdated(tx *postgres.Tx, ids []id.ID, at []time.Time) {
	if len(ids) > 0 {
		tx.Queue(`UPDATE contact c SET updated_at = u.at FROM unnest($2::uuid[], $3::timestamptz[]) AS u (id, at)
			WHERE c.org_id = $1 AND c.id = u.id`, tx.Org(), ids, at)
	}
}
