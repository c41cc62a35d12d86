package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// AccountState is a snapshot of an org's customer, subscriptions and open changes at one version.
type AccountState struct {
	Org           id.ID
	name          string // of the org
	Customer      string // "" until Stripe has a customer
	key           string // the customer's Idempotency-Key
	keyedAt       time.Time
	Version       int64
	client        bool // a client org: its agency has the plan
	Tariff        *Tariff
	Subscriptions []*StripeSubscription // the mirrored subscriptions that may still change
	Open          []*Change
}

// Live returns the org's live subscription, or nil.
func (d *AccountState) Live() *StripeSubscription {
	for _, h := range d.Subscriptions {
		if h.Live() {
			return h
		}
	}
	return nil
}

// Waiting returns the change that is in flight or awaits the customer, or nil.
func (d *AccountState) Waiting() *Change {
	for _, c := range d.Open {
		if c.State != Scheduled {
			return c
		}
	}
	return nil
}

// Scheduled returns the scheduled change, or nil.
func (d *AccountState) Scheduled() *Change {
	for _, c := range d.Open {
		if c.State == Scheduled {
			return c
		}
	}
	return nil
}

// ReadState reads an org's rows.
func (s *Service) ReadState(ctx context.Context, org id.ID) (*AccountState, error) {
	var d *AccountState
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
		d, err = readAccountState(ctx, tx)
		return err
	})
	return d, err
}

func readAccountState(ctx context.Context, tx *postgres.Tx) (*AccountState, error) {
	d := &AccountState{Org: tx.Org()}
	var customer *string
	err := tx.QueryRow(ctx,
		`SELECT o.name, c.stripe_id, coalesce(c.stripe_key, ''), coalesce(c.keyed_at, 'epoch'),
			coalesce(c.version, 0), o.parent_org_id IS NOT NULL
		FROM org o LEFT JOIN billing_customer c ON c.org_id = o.id WHERE o.id = $1`, []any{tx.Org()}, &d.name,
		&customer, &d.key, &d.keyedAt, &d.Version, &d.client)
	if err != nil {
		return nil, fmt.Errorf("read customer: %w", err)
	}
	if customer != nil {
		d.Customer = *customer
	}
	if d.Tariff, err = readTariff(ctx, tx); err != nil {
		return nil, err
	}
	if d.Subscriptions, err = listMirrored(ctx, tx); err != nil {
		return nil, err
	}

	d.Open, err = listUnsettled(ctx, tx)

	return d, err
}

// ReadMirrored reads from Stripe the subscriptions that d mirrors: the live subscription if it is the only one,
// otherwise all of the customer's subscriptions.
func (s *Service) ReadMirrored(ctx context.Context, d *AccountState) ([]*StripeSubscription, error) {
	if len(d.Subscriptions) == 1 && d.Subscriptions[0].Live() {
		h, err := s.ReadSubscription(ctx, d.Tariff, d.Subscriptions[0].ID)
		if err != nil {
			return nil, err
		}
		return []*StripeSubscription{h}, nil
	}

	return s.ReadSubscriptions(ctx, d.Tariff, d.Customer)
}

// matchesStripe reports whether the rows match the subscriptions that Stripe holds.
func (d *AccountState) matchesStripe(now []*StripeSubscription) bool {
	seen := map[string]*StripeSubscription{}
	for _, h := range d.Subscriptions {
		seen[h.ID] = h
	}

	for _, h := range now {
		was := seen[h.ID]
		if was == nil && (h.Live() || h.Status == string(stripe.SubscriptionStatusIncomplete)) ||
			was != nil && !was.sameRow(h) {
			return false
		}
	}

	return true
}
