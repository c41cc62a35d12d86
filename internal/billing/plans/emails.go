package plans

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// TakeEmailSQL is an SQL expression that counts one email of the org $1 in the current month of UTC, in the transaction
// of its mark. It is false and counts nothing if the plan's limit of emails_month is reached and its plan permits no
// overage. When 80 and 100 percent of the limit are reached, it enqueues the job that announces quota.reached.
//
// With a limit, the transaction holds the org's counter until its end, so the expression is for the last statement
// before the commit. An email that is marked a second time, after a definite refusal by its server, is counted again
// unless the caller leaves it out.
const TakeEmailSQL = `emails_take($1)`

// EmailRoom returns how many more emails tx's org may send this month. TakeEmailSQL decides at each mark.
func (c *Catalogue) EmailRoom(ctx context.Context, tx *postgres.Tx) (Space, error) {
	var used int64
	if err := tx.QueryRow(ctx, `SELECT emails_used($1)`, []any{tx.Org()}, &used); err != nil {
		return Space{}, fmt.Errorf("read emails of the month: %w", err)
	}
	return c.readRoom(ctx, tx, EmailsMonth, used)
}
