package webhooks

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Stopped marks deliveries as exhausted, because their jobs are dead or were dropped. Finished deliveries are
// unchanged.
func Stopped(tx *postgres.Tx, deliveries []id.ID) {
	tx.Queue(postgres.PlanByDay)
	tx.Queue(`
		UPDATE webhook_delivery SET status = 'exhausted', next_attempt_at = NULL, updated_at = clock_timestamp()
		WHERE org_id = $1 AND id = ANY ($2) AND status IN ('pending', 'failed')`, tx.Org(), deliveries)
}

// Revived marks deliveries as pending a retry now, because an operator runs their jobs again. Delivered and discarded
// deliveries are unchanged.
func Revived(tx *postgres.Tx, deliveries []id.ID) {
	tx.Queue(postgres.PlanByDay)
	tx.Queue(`
		UPDATE webhook_delivery SET updated_at = clock_timestamp(),
			status = CASE WHEN attempts = 0 THEN 'pending' ELSE 'failed' END,
			next_attempt_at = CASE WHEN attempts = 0 THEN NULL ELSE clock_timestamp() END
		WHERE org_id = $1 AND id = ANY ($2) AND status IN ('failed', 'exhausted')`, tx.Org(), deliveries)
}

// StopReplays marks replays as stopped, because their next step will not run.
func StopReplays(tx *postgres.Tx, replays []id.ID) {
	tx.Queue(`
		UPDATE webhook_replay SET status = 'stopped', updated_at = clock_timestamp(), completed_at = clock_timestamp()
		WHERE org_id = $1 AND id = ANY ($2) AND completed_at IS NULL`, tx.Org(), replays)
}

// ReviveReplays lets stopped replays continue where they stopped.
func ReviveReplays(tx *postgres.Tx, replays []id.ID) {
	tx.Queue(`
		UPDATE webhook_replay SET status = 'running', updated_at = clock_timestamp(), completed_at = NULL
		WHERE org_id = $1 AND id = ANY ($2) AND status = 'stopped'`, tx.Org(), replays)
}
