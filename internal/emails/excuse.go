package emails

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ExcuseSince queues that the emails of tx's org that could not be sent since a time are due now, so that none of them
// is too late. Emails that were too late before stay so.
func ExcuseSince(tx *postgres.Tx, since time.Time) {
	tx.Queue(`UPDATE email SET due_at = clock_timestamp()
		WHERE org_id = $1 AND status IN ('scheduled', 'planned') AND due_at < clock_timestamp()
		AND due_at + make_interval(hours => late_hours) > $2`, tx.Org(), since)
}
