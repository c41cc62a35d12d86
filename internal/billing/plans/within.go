package plans

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// In is what tx's org may use at the database's present moment, read within tx: for what must not happen without the right.
func (c *Catalogue) In(ctx context.Context, tx *postgres.Tx) (Rights, error) {
	r, _, err := c.rights(ctx, tx)
	return r, err
}

// Lacks is the refusal of a feature that r does not hold.
func (c *Catalogue) Lacks(r *Rights, feature string) error {
	return &fault.Fault{
		Code: fault.FeatureNotInPlan, Detail: "The plan does not hold this feature.",
		More: map[string]any{"feature": feature, "upgrade_to": orNull(c.Upgrade(r.Plan, r.Open, feature, 0))},
	}
}

// ConnectFee is what the platform takes of what the clients of an org with these rights pay, in hundredths of a percent:
// the plan's, and nothing where the plan does not count.
func (c *Catalogue) ConnectFee(r *Rights) int64 {
	if p := c.byKey[r.Plan]; p != nil && r.Open {
		return p.ConnectFee
	}
	return 0
}
