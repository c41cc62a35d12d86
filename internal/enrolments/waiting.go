package enrolments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// waitingSQL reads the groups that are due, of which there are few: a look moves those that must wait. No index is read
// up to clock_timestamp().
const waitingSQL = `
SELECT DISTINCT g.org_id FROM send_group g WHERE g.wake_at <= now()
	AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = g.org_id AND j.dedupe_key = $1)
LIMIT 1000`

// Waiting returns the orgs that have work for Tick and no open job with the given dedupe key. system must be a
// connection of the system role.
func Waiting(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`)
		rows, err := tx.Query(ctx, waitingSQL, dedupe)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find orgs with due groups: %w", err)
	}
	return found, nil
}
