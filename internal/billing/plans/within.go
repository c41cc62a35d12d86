package plans

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// In returns the rights of tx's org at the database's current time, read within tx, for operations that require the
// right at commit.
func (c *Catalogue) In(ctx context.Context, tx *postgres.Tx) (Rights, error) {
	r, _, err := c.readRights(ctx, tx)
	return r, err
}

// Lacks returns the fault for a feature that r does not include.
func (c *Catalogue) Lacks(r *Rights, feature string) error {
	return &fault.Fault{
		Code: fault.FeatureNotInPlan, Detail: "The plan does not include this feature.",
		More: map[string]any{"feature": feature, "upgrade_to": orNull(c.Upgrade(r.Plan, r.Open, feature, 0))},
	}
}

// ConnectFee returns the platform's share of the payments of a reseller's clients, in hundredths of a percent: the
// plan's, or 0 if the plan is not in effect.
func (c *Catalogue) ConnectFee(r *Rights) int64 {
	if p := c.byKey[r.Plan]; p != nil && r.Open {
		return p.ConnectFee
	}
	return 0
}
