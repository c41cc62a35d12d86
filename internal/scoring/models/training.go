package models

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// AskTraining queues the record of a requested training and returns its id. The caller must enqueue its job. Records
// older than a year are removed.
func AskTraining(tx *postgres.Tx) id.ID {
	made := id.New()
	tx.Queue(`DELETE FROM score_training WHERE org_id = $1 AND id < uuid_floor(now() - interval '365 days')`, tx.Org())
	tx.Queue(`INSERT INTO score_training (org_id, id, created_at) VALUES ($1, $2, $3)`, tx.Org(), made, wire.Now())
	return made
}

// EndTrainings records that every training that was requested so far has been completed, or has failed for good. One
// run serves all requests that it has met.
func EndTrainings(ctx context.Context, tx *postgres.Tx, failed bool) error {
	status := "completed"
	if failed {
		status = "failed"
	}
	_, err := tx.Exec(ctx, `UPDATE score_training SET status = $2, completed_at = now()
		WHERE org_id = $1 AND status = 'queued'`, tx.Org(), status)
	if err != nil {
		return fmt.Errorf("end trainings: %w", err)
	}
	return nil
}
