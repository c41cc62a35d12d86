package billing

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Subscription is an org's billing as stored, without a request to Stripe.
type Subscription struct {
	Rights          *plans.Stored
	Open, Scheduled *Change // nil if none
	Moved           int64   // number of timeline steps; grows with each change of state
}

// Read returns the subscription of tx's org.
func Read(ctx context.Context, tx *postgres.Tx) (*Subscription, error) {
	rights, err := plans.Read(ctx, tx)
	if err != nil {
		return nil, err
	}

	s := &Subscription{Rights: rights}
	open, err := listUnsettled(ctx, tx)
	if err != nil {
		return nil, err
	}

	d := AccountState{Open: open}
	s.Open, s.Scheduled = d.Waiting(), d.Scheduled()
	err = tx.QueryRow(ctx, `SELECT count(*) FROM plan_change_step WHERE org_id = $1`, []any{tx.Org()}, &s.Moved)
	if err != nil {
		return nil, fmt.Errorf("count steps: %w", err)
	}

	return s, nil
}
