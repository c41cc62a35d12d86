package plans

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// TakeEmail counts one email of tx's org in the current month of UTC, in the transaction of its mark. It returns false
// and counts nothing if the plan's limit of emails_month is reached and its plan permits no overage. When 80 and 100
// percent of the limit are reached, it enqueues the job that announces quota.reached.
//
// With a limit, tx holds the org's counter until its end, so TakeEmail comes last before the commit. An email that is
// marked a second time, after a definite refusal by its server, is counted again unless the caller leaves it out.
func TakeEmail(ctx context.Context, tx *postgres.Tx) (allowed bool, err error) {
	if err := tx.QueryRow(ctx, `SELECT emails_take($1)`, []any{tx.Org()}, &allowed); err != nil {
		return false, fmt.Errorf("count email: %w", err)
	}
	return allowed, nil
}

// EmailRoom returns how many more emails tx's org may send this month. TakeEmail decides at each mark.
func (c *Catalogue) EmailRoom(ctx context.Context, tx *postgres.Tx) (Space, error) {
	var used int64
	if err := tx.QueryRow(ctx, `SELECT emails_used($1)`, []any{tx.Org()}, &used); err != nil {
		return Space{}, fmt.Errorf("read emails of the month: %w", err)
	}
	return c.room(ctx, tx, EmailsMonth, used)
}
