package systemmail

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Brands answers what is shown of an org, as its plan allows it; db is of the App role. Pages ask the same.
func Brands(db *postgres.DB, p *plans.Service) *branding.Resolver {
	return branding.NewResolver(db, func(ctx context.Context, org id.ID) (branding.Rights, error) {
		now, err := p.Of(ctx, org)
		if err != nil {
			return branding.Rights{}, err
		}
		return RightsOf(now), nil
	})
}

// RightsOf is what a plan's features mean for a brand.
func RightsOf(now *plans.Standing) branding.Rights {
	return branding.Rights{WhiteLabel: now.Features["white_label"].Value.Has(), HideBrand: now.Features["hide_brand"].Value.Has()}
}
