package billing

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// EnsureCustomer creates the org's customer at Stripe if there is none. Concurrent calls use one idempotency key and
// get one customer. After the key has expired, or after a failure that Stripe stores with it, EnsureCustomer uses a new
// key: a customer without a subscription costs nothing.
//
// It returns fault.Conflict for a client org, which has no customer.
func (s *Service) EnsureCustomer(ctx context.Context, org id.ID) (*AccountState, error) {
	d, err := s.ReadState(ctx, org)
	switch {
	case err != nil:
		return nil, err
	case d.client:
		return nil, fault.New(fault.Conflict, "A client organization's plan is managed by its agency.")
	case d.Customer != "":
		return d, nil
	}

	if d.key == "" || s.Now().Sub(d.keyedAt) >= KeyLife {
		key := "cus:" + id.New().String()
		now := s.Timestamp()
		err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			tx.Queue(`INSERT INTO billing_customer (org_id, stripe_key, keyed_at) VALUES ($1, $2, $3)
				ON CONFLICT (org_id) DO UPDATE SET stripe_key = excluded.stripe_key, keyed_at = excluded.keyed_at
				WHERE billing_customer.stripe_id IS NULL AND billing_customer.keyed_at <= $4`, org, key, now,
				now.Add(-KeyLife))
			return nil
		})
		if err != nil {
			return nil, err
		}
		if d, err = s.ReadState(ctx, org); err != nil || d.Customer != "" {
			return d, err
		}
	}

	p := &stripe.CustomerParams{Params: Params(ctx, d.key), Metadata: map[string]string{"org_id": org.String()}}
	got, err := FromStripe(s.Stripe.Customers.New(p))
	if IsStored(err) { // Stripe repeats this response to the key for a day
		return nil, errors.Join(err, s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			tx.Queue(`UPDATE billing_customer SET keyed_at = 'epoch' WHERE org_id = $1 AND stripe_key = $2
				AND stripe_id IS NULL`, org, d.key)
			return nil
		}))
	}
	if err != nil {
		return nil, err
	}

	err = s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE billing_customer SET stripe_id = $2 WHERE org_id = $1 AND stripe_id IS NULL`, org, got.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}

	return s.ReadState(ctx, org)
}
