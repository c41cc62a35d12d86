package billing

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// interpretation is the outcome of a change at Stripe.
type interpretation struct {
	state   string // Applied, Scheduled, ActionRequired or Failed
	failure string // why it failed
	amount  int64
	invoice string
	sub     string
	secret  string
	url     string
	until   *time.Time
	err     error // for the caller, if Failed
}

// execute makes the requests of a recorded change and closes it with their outcome.
func (s *Service) execute(ctx context.Context, org id.ID, c *Change, call Call) (*Answer, error) {
	t, err := s.tariff(ctx, org)
	if err != nil {
		return nil, err
	}
	c.org = org
	v, err := s.callStripe(ctx, t, c)
	if err != nil {
		return nil, err // still in flight: its job continues it
	}
	if v.state == Failed && c.order.Release != "" {
		if err := s.restore(ctx, org, c); err != nil {
			return nil, err
		}
	}
	if err := s.At(ctx, "asked"); err != nil {
		return nil, err
	}
	return s.conclude(ctx, org, c, v, call)
}

// restore schedules again the change that was scheduled before the failed one.
func (s *Service) restore(ctx context.Context, org id.ID, failed *Change) error {
	d, err := s.accountState(ctx, org)
	if err != nil {
		return err
	}
	c := d.scheduled()
	if c == nil || c.Kind != PeriodEnd {
		return nil
	}
	again := *c
	// schedule reads the existing schedule first, so any new key is safe
	again.Key, again.order.Uncancel = failed.Key+":"+id.New().String(), false
	_, err = s.schedule(ctx, &again)
	return err
}

// callStripe makes the change's requests with the change's keys. An error means that the outcome is unknown and that
// the change may be executed again.
func (s *Service) callStripe(ctx context.Context, t *tariff, c *Change) (*interpretation, error) {
	if s.Now().Sub(c.KeyedAt) >= keyLife {
		return s.compare(ctx, t, c)
	}
	v, err := s.ask(ctx, t, c)
	if err == nil {
		return v, nil
	}
	var e *stripe.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	switch {
	case stored(err) && s.Now().Sub(c.KeyedAt) >= settled:
		return s.compare(ctx, t, c)
	case sortOf(err) == declined:
		return &interpretation{
			state: Failed, failure: string(fault.PaymentDeclined), sub: c.Subscription,
			err: outward(err),
		}, nil
	case sortOf(err) == refused, sortOf(err) == missing:
		s.Log.ErrorContext(ctx, "stripe refused a change of plan", "change", c.ID.String(), "error", redacted(err))
		f := fault.New(fault.PreviewStale,
			"The subscription has changed since this change was requested. Request a new preview.")
		return &interpretation{state: Failed, failure: "refused", sub: c.Subscription, err: f.Because(redacted(err))},
			nil
	default:
		return nil, err
	}
}

// settled is the age of a change after which a stored 500 is final: by then Stripe has finished processing the request.
const settled = 30 * time.Second

// ask makes the requests for the change's kind.
func (s *Service) ask(ctx context.Context, t *tariff, c *Change) (*interpretation, error) {
	o := c.order
	if o.Release != "" {
		if err := s.release(ctx, o.Release); err != nil {
			return nil, err
		}
	}
	switch c.Kind {
	case Start:
		return s.subscribe(ctx, t, c)
	case Now:
		return s.swap(ctx, t, c)
	case PeriodEnd:
		return s.schedule(ctx, c)
	default:
		_, err := s.renewing(ctx, o.Subscription, false)
		return &interpretation{state: Scheduled, sub: o.Subscription}, err
	}
}

// subscribe creates the org's first subscription. The customer's payment method is charged at once; without one, the
// subscription waits until the customer provides it.
func (s *Service) subscribe(ctx context.Context, t *tariff, c *Change) (*interpretation, error) {
	p := &stripe.SubscriptionParams{
		Params: given(ctx, c.Key), Customer: &c.order.Customer, PaymentBehavior: &c.order.Pay,
		Metadata: map[string]string{"change_id": c.ID.String()},
	}
	for _, i := range c.order.Items {
		p.Items = append(p.Items,
			&stripe.SubscriptionItemsParams{Price: stripe.String(i.Price), Quantity: stripe.Int64(i.Quantity)})
	}
	p.AddExpand(expanded)
	got, err := asked(s.stripe.Subscriptions.New(p))
	if err != nil {
		return nil, err
	}
	return s.interpret(ctx, t, c, got)
}

// swap replaces the items of the subscription. Stripe applies the swap only when its invoice is paid.
func (s *Service) swap(ctx context.Context, t *tariff, c *Change) (*interpretation, error) {
	p := &stripe.SubscriptionParams{
		Params: given(ctx, c.Key), ProrationBehavior: stripe.String("always_invoice"),
		ProrationDate:   &c.order.ProratedAt,
		PaymentBehavior: stripe.String("pending_if_incomplete"), Items: updates(c.order.Items),
	}
	p.AddExpand(expanded)
	got, err := asked(s.stripe.Subscriptions.Update(c.order.Subscription, p))
	if err != nil {
		return nil, err
	}
	v, err := s.interpret(ctx, t, c, got)
	if err != nil {
		return nil, err
	}
	return v, s.undoCancellation(ctx, c, v)
}

// undoCancellation takes back a pending cancellation after an upgrade: a customer who upgrades intends to stay.
func (s *Service) undoCancellation(ctx context.Context, c *Change, v *interpretation) error {
	if v.state != Applied || !c.order.Uncancel {
		return nil
	}
	_, err := s.renewing(ctx, c.order.Subscription, true)
	return err
}

func updates(items []item) []*stripe.SubscriptionItemsParams {
	var out []*stripe.SubscriptionItemsParams
	for _, i := range items {
		p := &stripe.SubscriptionItemsParams{ID: stripe.String(i.ID)}
		if i.Deleted {
			p.Deleted = stripe.Bool(true)
		} else {
			p.Price, p.Quantity = stripe.String(i.Price), stripe.Int64(i.Quantity)
		}
		out = append(out, p)
	}
	return out
}

// schedule schedules the swap for the end of the period. The schedule repeats the current phase, adds a phase with the
// new items, and then releases the subscription. schedule continues a schedule left by an earlier attempt.
func (s *Service) schedule(ctx context.Context, c *Change) (*interpretation, error) {
	o := c.order
	if o.Uncancel {
		if _, err := s.renewing(ctx, o.Subscription, true); err != nil {
			return nil, err
		}
	}
	done := &interpretation{state: Scheduled, sub: o.Subscription}
	made, err := s.scheduled(ctx, o.Subscription)
	if err == nil && made == nil {
		made, err = asked(s.stripe.SubscriptionSchedules.New(&stripe.SubscriptionScheduleParams{Params: given(ctx,
			c.Key), FromSubscription: &o.Subscription}))
	}
	if err != nil || leads(made, o.Items) {
		return done, err
	}
	start := o.PeriodStart
	if len(made.Phases) > 0 { // keep the start of the current phase
		start = made.Phases[0].StartDate
	}
	_, err = asked(s.stripe.SubscriptionSchedules.Update(made.ID, &stripe.SubscriptionScheduleParams{
		Params: given(ctx, c.Key+":phases"), EndBehavior: stripe.String("release"),
		ProrationBehavior: stripe.String("none"),
		Phases: []*stripe.SubscriptionSchedulePhaseParams{
			{
				StartDate: &start, EndDate: &o.PeriodEnd, Items: phase(o.Current),
				ProrationBehavior: stripe.String("none"),
			},
			{Iterations: stripe.Int64(1), Items: phase(o.Items), ProrationBehavior: stripe.String("none")},
		},
	}))
	return done, err
}

func phase(items []item) (all []*stripe.SubscriptionSchedulePhaseItemParams) {
	for _, i := range items {
		all = append(all,
			&stripe.SubscriptionSchedulePhaseItemParams{
				Price:    stripe.String(i.Price),
				Quantity: stripe.Int64(i.Quantity),
			})
	}
	return all
}

// scheduled returns the schedule that manages a subscription, or nil.
func (s *Service) scheduled(ctx context.Context, sub string) (*stripe.SubscriptionSchedule, error) {
	p := &stripe.SubscriptionParams{Params: given(ctx, "")}
	p.AddExpand("schedule")
	got, err := asked(s.stripe.Subscriptions.Get(sub, p))
	if err != nil {
		return nil, err
	}
	return got.Schedule, nil
}

// leads reports whether the last phase of a schedule with several phases has the base price of items.
func leads(sched *stripe.SubscriptionSchedule, items []item) bool {
	if sched == nil || len(sched.Phases) < 2 || len(items) == 0 {
		return false
	}
	for _, i := range sched.Phases[len(sched.Phases)-1].Items {
		if i.Price != nil && i.Price.ID == items[0].Price {
			return true
		}
	}
	return false
}

// release ends a schedule without changing the subscription; a schedule that has ended is left alone. The operation is
// idempotent, so each attempt has its own key: with a fixed key, Stripe would repeat the 500 of a failed attempt for a
// day.
func (s *Service) release(ctx context.Context, schedule string) error {
	_, err := asked(s.stripe.SubscriptionSchedules.Release(schedule,
		&stripe.SubscriptionScheduleReleaseParams{Params: given(ctx, "")}))
	if err == nil || sortOf(err) != refused && sortOf(err) != missing {
		return err
	}
	now, look := asked(s.stripe.SubscriptionSchedules.Get(schedule,
		&stripe.SubscriptionScheduleParams{Params: given(ctx, "")}))
	if look == nil && now.Status != stripe.SubscriptionScheduleStatusActive &&
		now.Status != stripe.SubscriptionScheduleStatusNotStarted {
		return nil
	}
	return err
}

// renewing sets whether the subscription renews at the end of its period. Like release, it is idempotent.
func (s *Service) renewing(ctx context.Context, sub string, on bool) (*stripe.Subscription, error) {
	return asked(s.stripe.Subscriptions.Update(sub,
		&stripe.SubscriptionParams{Params: given(ctx, ""), CancelAtPeriodEnd: stripe.Bool(!on)}))
}
