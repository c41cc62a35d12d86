package change

import (
	"context"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Portal returns a link to Stripe's billing portal, where the customer manages payment methods and invoices. back is
// the URL that the portal links back to.
func (s *Service) Portal(ctx context.Context, org id.ID, back string) (string, error) {
	d, err := s.EnsureCustomer(ctx, org)
	if err != nil {
		return "", billing.AsFault(err)
	}

	p := &stripe.BillingPortalSessionParams{Params: billing.Params(ctx, ""), Customer: &d.Customer, ReturnURL: &back}
	got, err := billing.FromStripe(s.Stripe.BillingPortalSessions.New(p))
	if err != nil {
		return "", billing.AsFault(err)
	}

	return got.URL, nil
}
