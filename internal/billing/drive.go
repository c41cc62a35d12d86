package billing

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// verdict is what Stripe made of a change.
type verdict struct {
	state   string // Applied, Scheduled, ActionRequired or Failed
	failure string // of Failed
	amount  int64
	invoice string
	sub     string
	secret  string
	url     string
	until   *time.Time
	err     error // what the caller is told, of Failed
}

// carry asks Stripe for a change that was begun, and closes it with what came of it.
func (s *Service) carry(ctx context.Context, org id.ID, c *Change, call Call) (*Answer, error) {
	t, err := s.tariff(ctx, org)
	if err != nil {
		return nil, err
	}
	c.org = org
	v, err := s.drive(ctx, t, c)
	if err != nil {
		return nil, err // in flight: the job goes on
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

// restore schedules anew what was scheduled before a change that came to nothing.
func (s *Service) restore(ctx context.Context, org id.ID, failed *Change) error {
	d, err := s.desk(ctx, org)
	if err != nil {
		return err
	}
	c := d.scheduled()
	if c == nil || c.Kind != PeriodEnd {
		return nil
	}
	again := *c
	again.Key, again.order.Uncancel = failed.Key+":"+id.New().String(), false // what is there is looked at first, so any key does
	_, err = s.schedule(ctx, &again)
	return err
}

// drive asks Stripe for what the change wants, under the change's keys. An error means that what came of it is not
// known, and that the change may be driven again.
func (s *Service) drive(ctx context.Context, t *tariff, c *Change) (*verdict, error) {
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
		return &verdict{state: Failed, failure: string(fault.PaymentDeclined), sub: c.Subscription, err: outward(err)}, nil
	case sortOf(err) == refused, sortOf(err) == missing:
		s.Log.ErrorContext(ctx, "stripe refused a change of plan", "change", c.ID.String(), "error", redacted(err))
		f := fault.New(fault.PreviewStale, "The subscription is not what this change was made for. Ask for a new preview.")
		return &verdict{state: Failed, failure: "refused", sub: c.Subscription, err: f.Because(redacted(err))}, nil
	default:
		return nil, err
	}
}

// settled is how old a change must be before a stored 500 is taken as final: Stripe has long done what it was going to.
const settled = 30 * time.Second

// ask makes the change's requests.
func (s *Service) ask(ctx context.Context, t *tariff, c *Change) (*verdict, error) {
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
		return &verdict{state: Scheduled, sub: o.Subscription}, err
	}
}

// subscribe makes the org's first subscription. The customer's own payment method is charged at once; without one the
// subscription waits for the customer to bring it.
func (s *Service) subscribe(ctx context.Context, t *tariff, c *Change) (*verdict, error) {
	p := &stripe.SubscriptionParams{
		Params: given(ctx, c.Key), Customer: &c.order.Customer, PaymentBehavior: &c.order.Pay,
		Metadata: map[string]string{"change_id": c.ID.String()},
	}
	for _, i := range c.order.Items {
		p.Items = append(p.Items, &stripe.SubscriptionItemsParams{Price: stripe.String(i.Price), Quantity: stripe.Int64(i.Quantity)})
	}
	p.AddExpand(expanded)
	got, err := asked(s.stripe.Subscriptions.New(p))
	if err != nil {
		return nil, err
	}
	return s.judge(ctx, t, c, got)
}

// swap exchanges the items of the subscription. Stripe applies it when the money is there and not before.
func (s *Service) swap(ctx context.Context, t *tariff, c *Change) (*verdict, error) {
	p := &stripe.SubscriptionParams{
		Params: given(ctx, c.Key), ProrationBehavior: stripe.String("always_invoice"), ProrationDate: &c.order.ProratedAt,
		PaymentBehavior: stripe.String("pending_if_incomplete"), Items: updates(c.order.Items),
	}
	p.AddExpand(expanded)
	got, err := asked(s.stripe.Subscriptions.Update(c.order.Subscription, p))
	if err != nil {
		return nil, err
	}
	v, err := s.judge(ctx, t, c, got)
	if err != nil {
		return nil, err
	}
	return v, s.stay(ctx, c, v)
}

// stay takes a cancellation back with what was bought after it: who buys more means to stay.
func (s *Service) stay(ctx context.Context, c *Change, v *verdict) error {
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

// schedule puts the swap at the end of the period: the current phase repeated as it is, then one of the new items, then
// the subscription goes on by itself. A schedule that an earlier try has left is gone on with.
func (s *Service) schedule(ctx context.Context, c *Change) (*verdict, error) {
	o := c.order
	if o.Uncancel {
		if _, err := s.renewing(ctx, o.Subscription, true); err != nil {
			return nil, err
		}
	}
	done := &verdict{state: Scheduled, sub: o.Subscription}
	made, err := s.scheduled(ctx, o.Subscription)
	if err == nil && made == nil {
		made, err = asked(s.stripe.SubscriptionSchedules.New(&stripe.SubscriptionScheduleParams{Params: given(ctx, c.Key), FromSubscription: &o.Subscription}))
	}
	if err != nil || leads(made, o.Items) {
		return done, err
	}
	start := o.PeriodStart
	if len(made.Phases) > 0 { // the phase that runs begins when the schedule says
		start = made.Phases[0].StartDate
	}
	_, err = asked(s.stripe.SubscriptionSchedules.Update(made.ID, &stripe.SubscriptionScheduleParams{
		Params: given(ctx, c.Key+":phases"), EndBehavior: stripe.String("release"), ProrationBehavior: stripe.String("none"),
		Phases: []*stripe.SubscriptionSchedulePhaseParams{
			{StartDate: &start, EndDate: &o.PeriodEnd, Items: phase(o.Current), ProrationBehavior: stripe.String("none")},
			{Iterations: stripe.Int64(1), Items: phase(o.Items), ProrationBehavior: stripe.String("none")},
		},
	}))
	return done, err
}

func phase(items []item) (all []*stripe.SubscriptionSchedulePhaseItemParams) {
	for _, i := range items {
		all = append(all, &stripe.SubscriptionSchedulePhaseItemParams{Price: stripe.String(i.Price), Quantity: stripe.Int64(i.Quantity)})
	}
	return all
}

// scheduled reads the schedule that manages a subscription; nil where none does.
func (s *Service) scheduled(ctx context.Context, sub string) (*stripe.SubscriptionSchedule, error) {
	p := &stripe.SubscriptionParams{Params: given(ctx, "")}
	p.AddExpand("schedule")
	got, err := asked(s.stripe.Subscriptions.Get(sub, p))
	if err != nil {
		return nil, err
	}
	return got.Schedule, nil
}

// leads tells whether a schedule's last phase, after another, has the base item that is meant.
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

// release ends a schedule and leaves the subscription as it is; one that has ended is left alone. Doing it twice does no
// more than doing it once, so each try has a key of its own: under a kept one, Stripe would answer with the 500 of a
// failed try for a day.
func (s *Service) release(ctx context.Context, schedule string) error {
	_, err := asked(s.stripe.SubscriptionSchedules.Release(schedule, &stripe.SubscriptionScheduleReleaseParams{Params: given(ctx, "")}))
	if err == nil || sortOf(err) != refused && sortOf(err) != missing {
		return err
	}
	now, look := asked(s.stripe.SubscriptionSchedules.Get(schedule, &stripe.SubscriptionScheduleParams{Params: given(ctx, "")}))
	if look == nil && now.Status != stripe.SubscriptionScheduleStatusActive && now.Status != stripe.SubscriptionScheduleStatusNotStarted {
		return nil
	}
	return err
}

// renewing says whether the subscription goes on after its period. Like release, it may be said twice.
func (s *Service) renewing(ctx context.Context, sub string, on bool) (*stripe.Subscription, error) {
	return asked(s.stripe.Subscriptions.Update(sub, &stripe.SubscriptionParams{Params: given(ctx, ""), CancelAtPeriodEnd: stripe.Bool(!on)}))
}
