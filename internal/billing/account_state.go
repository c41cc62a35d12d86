package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// accountState is a snapshot of an org's customer, subscriptions and open changes at one version.
type accountState struct {
	org      id.ID
	name     string // of the org
	customer string // "" until Stripe has a customer
	key      string // the customer's Idempotency-Key
	keyedAt  time.Time
	version  int64
	client   bool // a client org: its agency has the plan
	tariff   *tariff
	subs     []*StripeSubscription // the mirrored subscriptions that may still change
	open     []*Change
}

// errMoved reports that the rows changed after they were read. The caller reads them again and retries.
var errMoved = errors.New("billing changed concurrently")

// live returns the org's live subscription, or nil.
func (d *accountState) live() *StripeSubscription {
	for _, h := range d.subs {
		if h.Live() {
			return h
		}
	}
	return nil
}

// waiting returns the change that is in flight or awaits the customer, or nil.
func (d *accountState) waiting() *Change {
	for _, c := range d.open {
		if c.State != Scheduled {
			return c
		}
	}
	return nil
}

// scheduled returns the scheduled change, or nil.
func (d *accountState) scheduled() *Change {
	for _, c := range d.open {
		if c.State == Scheduled {
			return c
		}
	}
	return nil
}

// accountState reads an org's rows.
func (s *Service) accountState(ctx context.Context, org id.ID) (*accountState, error) {
	var d *accountState
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
		d, err = readAccountState(ctx, tx)
		return err
	})
	return d, err
}

func readAccountState(ctx context.Context, tx *postgres.Tx) (*accountState, error) {
	d := &accountState{org: tx.Org()}
	var customer *string
	err := tx.QueryRow(ctx,
		`SELECT o.name, c.stripe_id, coalesce(c.stripe_key, ''), coalesce(c.keyed_at, 'epoch'),
			coalesce(c.version, 0), o.parent_org_id IS NOT NULL
		FROM org o LEFT JOIN billing_customer c ON c.org_id = o.id WHERE o.id = $1`, []any{tx.Org()}, &d.name,
		&customer, &d.key, &d.keyedAt, &d.version, &d.client)
	if err != nil {
		return nil, fmt.Errorf("read customer: %w", err)
	}
	if customer != nil {
		d.customer = *customer
	}
	if d.tariff, err = readTariff(ctx, tx); err != nil {
		return nil, err
	}
	if d.subs, err = mirrored(ctx, tx); err != nil {
		return nil, err
	}
	d.open, err = unsettled(ctx, tx)
	return d, err
}

// fresh reads the org's state from Stripe, applies the differences to the rows and returns the resulting snapshot.
func (s *Service) fresh(ctx context.Context, org id.ID) (*accountState, error) {
	for range tries {
		d, err := s.accountState(ctx, org)
		if err != nil || d.customer == "" {
			return d, err
		}
		now, err := s.look(ctx, d)
		if err != nil {
			return nil, err
		}
		if d.agrees(now) {
			return d, nil
		}
		if err = s.apply(ctx, d, now, found); err != nil && !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, errMoved
}

// tries is the number of attempts when concurrent transactions keep changing the rows.
const tries = 5

// look reads from Stripe the subscriptions that d mirrors: the live subscription if it is the only one, otherwise all
// of the customer's subscriptions.
func (s *Service) look(ctx context.Context, d *accountState) ([]*StripeSubscription, error) {
	if len(d.subs) == 1 && d.subs[0].Live() {
		h, err := s.read(ctx, d.tariff, d.subs[0].ID)
		if err != nil {
			return nil, err
		}
		return []*StripeSubscription{h}, nil
	}
	return s.all(ctx, d.tariff, d.customer)
}

// agrees reports whether the rows match the subscriptions that Stripe holds.
func (d *accountState) agrees(now []*StripeSubscription) bool {
	seen := map[string]*StripeSubscription{}
	for _, h := range d.subs {
		seen[h.ID] = h
	}
	for _, h := range now {
		was := seen[h.ID]
		if was == nil && (h.Live() || h.Status == string(stripe.SubscriptionStatusIncomplete)) ||
			was != nil && !was.same(h) {
			return false
		}
	}
	return true
}

// keyLife is how long an idempotency key may be used. Stripe forgets a key after 24 hours and would then execute the
// request a second time.
const keyLife = 23 * time.Hour

// ensureCustomer creates the org's customer at Stripe if there is none. Concurrent calls use one idempotency key and
// get one customer. After the key has expired, or after a failure that Stripe stores with it, ensureCustomer uses a new
// key: a customer without a subscription costs nothing.
//
// It returns fault.Conflict for a client org, which has no customer.
func (s *Service) ensureCustomer(ctx context.Context, org id.ID) (*accountState, error) {
	d, err := s.accountState(ctx, org)
	switch {
	case err != nil:
		return nil, err
	case d.client:
		return nil, fault.New(fault.Conflict, "A client organization's plan is managed by its agency.")
	case d.customer != "":
		return d, nil
	}
	if d.key == "" || s.Now().Sub(d.keyedAt) >= keyLife {
		key, now := "cus:"+id.New().String(), s.now()
		err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			tx.Queue(`INSERT INTO billing_customer (org_id, stripe_key, keyed_at) VALUES ($1, $2, $3)
				ON CONFLICT (org_id) DO UPDATE SET stripe_key = excluded.stripe_key, keyed_at = excluded.keyed_at
				WHERE billing_customer.stripe_id IS NULL AND billing_customer.keyed_at <= $4`, org, key, now,
				now.Add(-keyLife))
			return nil
		})
		if err != nil {
			return nil, err
		}
		if d, err = s.accountState(ctx, org); err != nil || d.customer != "" {
			return d, err
		}
	}
	p := &stripe.CustomerParams{Params: given(ctx, d.key), Metadata: map[string]string{"org_id": org.String()}}
	got, err := asked(s.stripe.Customers.New(p))
	if stored(err) { // Stripe repeats this response to the key for a day
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
	return s.accountState(ctx, org)
}
