package webhooks

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Stopped says that no further try of these deliveries is planned: their jobs are dead or were dropped. Deliveries that
// have come to an end keep it.
func Stopped(tx *postgres.Tx, deliveries []id.ID) {
	tx.Queue(`
		UPDATE webhook_delivery SET status = 'exhausted', next_attempt_at = NULL, updated_at = clock_timestamp()
		WHERE org_id = $1 AND id = ANY ($2) AND status IN ('pending', 'failed')`, tx.Org(), deliveries)
}

// Revived says that these deliveries are tried again now: an operator runs their jobs. What was delivered or discarded
// stays so.
func Revived(tx *postgres.Tx, deliveries []id.ID) {
	tx.Queue(`
		UPDATE webhook_delivery SET updated_at = clock_timestamp(),
			status = CASE WHEN attempts = 0 THEN 'pending' ELSE 'failed' END,
			next_attempt_at = CASE WHEN attempts = 0 THEN NULL ELSE clock_timestamp() END
		WHERE org_id = $1 AND id = ANY ($2) AND status IN ('failed', 'exhausted')`, tx.Org(), deliveries)
}

// StopReplays ends replays whose next step will not be made.
func StopReplays(tx *postgres.Tx, replays []id.ID) {
	tx.Queue(`
		UPDATE webhook_replay SET status = 'stopped', updated_at = clock_timestamp(), completed_at = clock_timestamp()
		WHERE org_id = $1 AND id = ANY ($2) AND completed_at IS NULL`, tx.Org(), replays)
}

// ReviveReplays lets replays that were stopped go on where they were.
func ReviveReplays(tx *postgres.Tx, replays []id.ID) {
	tx.Queue(`
		UPDATE webhook_replay SET status = 'running', updated_at = clock_timestamp(), completed_at = NULL
		WHERE org_id = $1 AND id = ANY ($2) AND status = 'stopped'`, tx.Org(), replays)
}
