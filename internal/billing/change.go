package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ChangeRequest is a request to change to a plan.
type ChangeRequest struct {
	Plan, Interval string
	When           string // Now or PeriodEnd; "": Now for an upgrade, PeriodEnd for a downgrade
	Preview        *id.ID // the accepted preview; nil: accept any amount
}

// Call describes how a request arrived: with or without the caller's idempotency key.
type Call struct {
	Key         string
	Fingerprint []byte
	// Check runs first in TX1; an error aborts the change before it is recorded. Keep runs last in the transaction that
	// closes the change, with the answer. Both may be nil.
	Check func(ctx context.Context, tx *postgres.Tx) error
	Keep  func(ctx context.Context, tx *postgres.Tx, a *Answer) error
}

// Answer is the outcome of a request.
type Answer struct {
	Change         *Change // nil: nothing to change
	Status         string  // the change's state, or Unchanged
	Plan, Interval string
	AmountDue      int64 // charged, or due once the customer confirms
	Currency       string
	EffectiveAt    time.Time
	// ClientSecret and HostedURL let the customer confirm the payment until Until; set while ActionRequired.
	ClientSecret, HostedURL string
	Until                   *time.Time
}

// Change moves org to another plan. It returns after Stripe has responded: the status is Applied or Scheduled,
// ActionRequired if the customer has to confirm the payment, Unchanged if there is nothing to change.
//
// Errors: fault.ContactSales, fault.PreviewStale, fault.ChangeInFlight for a concurrent change, fault.PaymentDeclined,
// fault.PastDue, and fault.Unavailable if Stripe cannot be reached. After fault.Unavailable the change is still in
// flight and will be closed by its job.
func (s *Service) Change(ctx context.Context, org id.ID, w ChangeRequest, call Call) (*Answer, error) {
	if err := s.allowed(w); err != nil {
		return nil, err
	}
	if _, err := s.ensureCustomer(ctx, org); err != nil {
		return nil, outward(err)
	}
	for range tries {
		a, err := s.change(ctx, org, w, call)
		if !errors.Is(err, errMoved) {
			return a, outward(err)
		}
	}
	return nil, inFlight(nil)
}

// change is one attempt of Change.
func (s *Service) change(ctx context.Context, org id.ID, w ChangeRequest, call Call) (*Answer, error) {
	d, err := s.fresh(ctx, org)
	if err != nil {
		return nil, err
	}
	if a, err := s.already(ctx, d, w); a != nil || err != nil {
		return a, err
	}
	p, err := s.agreed(ctx, d, w)
	if err != nil {
		return nil, err
	}
	c, err := s.buildChange(d, p)
	if err != nil {
		return nil, err
	}
	if err := s.recordIntent(ctx, d, c, call); err != nil {
		return nil, err
	}
	return s.execute(ctx, org, c, call)
}

// choosable returns the keys of the plans that an org may choose.
func (s *Service) choosable() []string {
	var keys []string
	for i := range s.Catalogue.Plans {
		if p := &s.Catalogue.Plans[i]; p.Selectable() {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// allowed returns an error for a plan that no org can choose.
func (s *Service) allowed(w ChangeRequest) error {
	p, ok := s.Catalogue.Plan(w.Plan)
	switch {
	case ok && p.CustomPricing:
		return fault.New(fault.ContactSales, "This plan is sold by our sales team; please contact them.")
	case !ok || !p.Selectable():
		return fault.Invalid("plan", "unknown_plan",
			fault.Choices("There is no such plan to choose.", w.Plan, s.choosable()))
	default:
		return nil
	}
}

// already returns the answer to a request that is already satisfied: the org has the plan, or an open change leads to
// it. It returns nil, nil if a new change is needed, and fault.ChangeInFlight if another change is open.
func (s *Service) already(ctx context.Context, d *accountState, w ChangeRequest) (*Answer, error) {
	live := d.live()
	if c := d.waiting(); c != nil {
		if c.State == ActionRequired && c.ToPlan == w.Plan && c.ToInterval == w.Interval {
			return s.confirming(ctx, c)
		}
		return nil, inFlight(c)
	}
	if live.has(w.Plan, w.Interval) {
		return &Answer{
			Status: Unchanged, Plan: w.Plan, Interval: w.Interval, Currency: s.currency(d, live),
			EffectiveAt: live.PeriodStart,
		}, nil
	}
	if c := d.scheduled(); c != nil && c.Kind == PeriodEnd && c.ToPlan == w.Plan && c.ToInterval == w.Interval &&
		s.timing(live, w) == PeriodEnd {
		return answered(c), nil
	}
	return nil, nil
}

// timing returns when the requested change takes effect.
func (s *Service) timing(live *StripeSubscription, w ChangeRequest) string {
	switch {
	case !live.Live():
		return Start
	case w.When != "":
		return w.When
	case s.rank(w.Plan, w.Interval) > s.rank(live.Plan, live.Interval):
		return Now
	default:
		return PeriodEnd
	}
}

// rank orders plans as the catalogue lists them; within a plan, the year ranks above the month.
func (s *Service) rank(plan, interval string) int {
	at := slices.IndexFunc(s.Catalogue.Plans, func(p plans.Plan) bool { return p.Key == plan })
	if interval == "year" {
		return 2*at + 1
	}
	return 2 * at
}

func (s *Service) currency(d *accountState, h *StripeSubscription) string {
	if h != nil {
		if p, ok := d.tariff.byID[h.Price]; ok {
			return p.Currency
		}
	}
	return s.Catalogue.Currency
}

// inFlight returns the fault.ChangeInFlight for a concurrent change.
func inFlight(c *Change) error {
	f := fault.New(fault.ChangeInFlight, "Another change of plan is in progress. Wait for it, or undo it.")
	f.RetryAfter = 2 * time.Second
	if c != nil {
		f.ExistingID = c.ID.String()
	}
	return f
}

// answered returns the Answer for a change's row.
func answered(c *Change) *Answer {
	a := &Answer{
		Change: c, Status: c.State, Plan: c.ToPlan, Interval: c.ToInterval, AmountDue: c.AmountDue,
		Currency: c.Currency, EffectiveAt: c.CreatedAt,
	}
	if c.EffectiveAt != nil {
		a.EffectiveAt = *c.EffectiveAt
	}
	if c.Kind == Cancel {
		a.Plan, a.Interval = c.FromPlan, c.FromInterval
	}
	return a
}

// buildChange returns the change for a preview, with all parameters of the requests to Stripe.
func (s *Service) buildChange(d *accountState, p *Preview) (*Change, error) {
	live, now := d.live(), s.now()
	c := &Change{
		ID: id.New(), Kind: p.Timing, State: InFlight, ToPlan: p.Plan, ToInterval: p.Interval, KeyedAt: now,
		Preview:  &p.ID,
		Expected: p.AmountDue, Currency: p.Currency, CreatedAt: now, UpdatedAt: now, version: d.version,
	}
	c.Key = "pc:" + c.ID.String()
	items, err := d.items(p.Plan, p.Interval)
	if err != nil {
		return nil, err
	}
	c.order = order{Customer: d.customer, Items: items}
	if live == nil {
		c.Kind, c.order.Pay = Start, p.pay
		return c, nil
	}
	c.from(live)
	switch c.Kind {
	case Now:
		c.order.ProratedAt = p.ProrationDate.Unix()
	case PeriodEnd:
		c.order.Items = phased(items)
		c.order.PeriodStart, c.order.PeriodEnd = live.PeriodStart.Unix(), live.PeriodEnd.Unix()
		c.order.Current = phased(live.items())
		c.EffectiveAt = &live.PeriodEnd
	}
	return c, nil
}

// from records the subscription's state before the change.
func (c *Change) from(live *StripeSubscription) {
	c.FromPlan, c.FromInterval, c.Subscription = live.Plan, live.Interval, live.ID
	c.order.Subscription, c.order.Release, c.order.Uncancel, c.order.Invoice = live.ID, live.Schedule,
		live.CancelAtPeriodEnd, live.Invoice
}

// items returns the subscription's current items.
func (h *StripeSubscription) items() []item {
	all := []item{{ID: h.Item, Price: h.Price, Quantity: h.Quantity}}
	if h.OverageItem != "" {
		all = append(all, item{ID: h.OverageItem, Price: h.OveragePrice, Quantity: h.OverageQuantity})
	}
	return all
}

// items returns the subscription's items after a change to a plan. The base item is swapped, and so is the item of
// client orgs above the plan's limit. If the new plan sells no such item, it stays with quantity 0, because an update
// that waits for its payment may not remove an item. Only a different interval removes it, because a subscription's
// items must all have the same interval.
func (d *accountState) items(plan, interval string) ([]item, error) {
	p, err := d.tariff.find(base, plan, interval)
	if err != nil {
		return nil, err
	}
	live := d.live()
	if live == nil {
		return []item{{Price: p.ID, Quantity: 1}}, nil
	}
	all := []item{{ID: live.Item, Price: p.ID, Quantity: max(live.Quantity, 1)}}
	if live.OverageItem == "" {
		return all, nil
	}
	o, sells := d.tariff.current[sold{overage, plan, interval}]
	switch {
	case sells:
		all = append(all, item{ID: live.OverageItem, Price: o.ID, Quantity: live.OverageQuantity})
	case interval == live.Interval:
		all = append(all, item{ID: live.OverageItem, Price: live.OveragePrice})
	default:
		all = append(all, item{ID: live.OverageItem, Deleted: true})
	}
	return all, nil
}

// phased returns items in the form of a schedule's phase: by price, without ids.
func phased(items []item) []item {
	var out []item
	for _, i := range items {
		if !i.Deleted && i.Quantity > 0 {
			out = append(out, item{Price: i.Price, Quantity: i.Quantity})
		}
	}
	return out
}

// recordIntent is TX1: under the customer's row lock, it writes the change and enqueues the job that recovers it. It
// returns errMoved if anything has changed since d was read.
func (s *Service) recordIntent(ctx context.Context, d *accountState, c *Change, call Call) error {
	err := s.App.Tx(ctx, d.org, func(tx *postgres.Tx) error {
		if call.Check != nil {
			if err := call.Check(ctx, tx); err != nil {
				return err
			}
		}
		if err := lock(ctx, tx, d.version); err != nil {
			return err
		}
		if err := c.insert(ctx, tx, call); err != nil {
			return err
		}
		detail := map[string]any{
			"from": c.FromPlan, "to": c.ToPlan, "interval": c.ToInterval,
			"amount_expected": c.Expected, "currency": c.Currency,
		}
		s.step(tx, c.ID, "requested", detail)
		s.Audit(ctx, tx, Act{Action: "plan.change_requested", Target: "plan_change", ID: c.ID.String(), Detail: detail})
		return s.Remind(ctx, tx, c.ID)
	})
	switch {
	case postgres.Violates(err, "plan_change_open"), postgres.Violates(err, "plan_change_client_key"):
		return inFlight(nil)
	case err != nil:
		return err
	}
	return s.At(ctx, "begun")
}

// lock takes the customer's row lock until the end of tx. It returns errMoved if the row's version differs from
// version.
func lock(ctx context.Context, tx *postgres.Tx, version int64) error {
	var now int64
	err := tx.QueryRow(ctx, `SELECT version FROM billing_customer WHERE org_id = $1 FOR UPDATE`, []any{tx.Org()}, &now)
	if err != nil {
		return fmt.Errorf("lock customer: %w", err)
	}
	if now != version {
		return errMoved
	}
	return nil
}
