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

// desk is all that is known of an org's billing at one version.
type desk struct {
	org      id.ID
	name     string // the org's
	customer string // "" as long as Stripe knows none
	key      string // the customer's Idempotency-Key
	keyedAt  time.Time
	version  int64
	client   bool // its plan is its agency's
	tariff   *tariff
	subs     []*Held // those that may still change, as mirrored
	open     []*Change
}

// errMoved says that what was read is no longer what holds. Read again.
var errMoved = errors.New("billing changed meanwhile")

// live is the subscription that counts, nil without one.
func (d *desk) live() *Held {
	for _, h := range d.subs {
		if h.Live() {
			return h
		}
	}
	return nil
}

// waiting is the change that is in flight or waits for the customer, nil without one.
func (d *desk) waiting() *Change {
	for _, c := range d.open {
		if c.State != Scheduled {
			return c
		}
	}
	return nil
}

// scheduled is the change that will take effect, nil without one.
func (d *desk) scheduled() *Change {
	for _, c := range d.open {
		if c.State == Scheduled {
			return c
		}
	}
	return nil
}

// desk reads an org's rows.
func (s *Service) desk(ctx context.Context, org id.ID) (*desk, error) {
	var d *desk
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
		d, err = readDesk(ctx, tx)
		return err
	})
	return d, err
}

func readDesk(ctx context.Context, tx *postgres.Tx) (*desk, error) {
	d := &desk{org: tx.Org()}
	var customer *string
	err := tx.QueryRow(ctx, `SELECT o.name, c.stripe_id, coalesce(c.stripe_key, ''), coalesce(c.keyed_at, 'epoch'), coalesce(c.version, 0), o.parent_org_id IS NOT NULL
		FROM org o LEFT JOIN billing_customer c ON c.org_id = o.id WHERE o.id = $1`, []any{tx.Org()}, &d.name, &customer, &d.key, &d.keyedAt, &d.version, &d.client)
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

// fresh is the desk after a look at Stripe: what differed has been applied.
func (s *Service) fresh(ctx context.Context, org id.ID) (*desk, error) {
	for range tries {
		d, err := s.desk(ctx, org)
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

// tries is how often something is begun anew that others overtook.
const tries = 5

// look reads from Stripe what the desk's rows mirror: its one subscription, or, where there is none, all of the
// customer's.
func (s *Service) look(ctx context.Context, d *desk) ([]*Held, error) {
	if len(d.subs) == 1 && d.subs[0].Live() {
		h, err := s.read(ctx, d.tariff, d.subs[0].ID)
		if err != nil {
			return nil, err
		}
		return []*Held{h}, nil
	}
	return s.all(ctx, d.tariff, d.customer)
}

// agrees tells whether the rows are what Stripe holds.
func (d *desk) agrees(now []*Held) bool {
	seen := map[string]*Held{}
	for _, h := range d.subs {
		seen[h.ID] = h
	}
	for _, h := range now {
		was := seen[h.ID]
		if was == nil && (h.Live() || h.Status == string(stripe.SubscriptionStatusIncomplete)) || was != nil && !was.same(h) {
			return false
		}
	}
	return true
}

// keyLife is how long a key may be used: Stripe forgets it after 24 hours, and would act a second time.
const keyLife = 23 * time.Hour

// enrol makes the org's customer at Stripe. Two that do it at once ask with one key and get one customer. After the
// key's life, or a failure that Stripe keeps with it, it takes a new one: a customer without a subscription costs nobody
// anything.
//
// A client org has none: fault.Conflict.
func (s *Service) enrol(ctx context.Context, org id.ID) (*desk, error) {
	d, err := s.desk(ctx, org)
	switch {
	case err != nil:
		return nil, err
	case d.client:
		return nil, fault.New(fault.Conflict, "The plan of a client organization is its agency's.")
	case d.customer != "":
		return d, nil
	}
	if d.key == "" || s.Now().Sub(d.keyedAt) >= keyLife {
		key, now := "cus:"+id.New().String(), s.now()
		err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			tx.Queue(`INSERT INTO billing_customer (org_id, stripe_key, keyed_at) VALUES ($1, $2, $3)
				ON CONFLICT (org_id) DO UPDATE SET stripe_key = excluded.stripe_key, keyed_at = excluded.keyed_at
				WHERE billing_customer.stripe_id IS NULL AND billing_customer.keyed_at <= $4`, org, key, now, now.Add(-keyLife))
			return nil
		})
		if err != nil {
			return nil, err
		}
		if d, err = s.desk(ctx, org); err != nil || d.customer != "" {
			return d, err
		}
	}
	p := &stripe.CustomerParams{Params: given(ctx, d.key), Metadata: map[string]string{"org_id": org.String()}}
	got, err := asked(s.stripe.Customers.New(p))
	if stored(err) { // under this key Stripe would answer so for a day
		return nil, errors.Join(err, s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			tx.Queue(`UPDATE billing_customer SET keyed_at = 'epoch' WHERE org_id = $1 AND stripe_key = $2 AND stripe_id IS NULL`, org, d.key)
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
	return s.desk(ctx, org)
}
