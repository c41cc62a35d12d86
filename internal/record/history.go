package record

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// SetUpdated queues setting updated_at of the records to times of the past, one for each. It is for history that is
// written afterwards: a change through the other operations is a change of now.
func (t *Table[T]) SetUpdated(tx *postgres.Tx, ids []id.ID, at []time.Time) {
	if len(ids) > 0 {
		tx.Queue(`UPDATE `+t.Name+` r SET updated_at = u.at FROM unnest($2::uuid[], $3::timestamptz[]) AS u (id, at)
			WHERE r.org_id = $1 AND r.id = u.id`, tx.Org(), ids, at)
	}
}
