package change

import (
	"context"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
)

// scheduleSwap schedules the swap for the end of the period. The schedule repeats the current phase, adds a phase with
// the new items, and then releases the subscription. scheduleSwap continues a schedule left by an earlier attempt.
func (s *Service) scheduleSwap(ctx context.Context, c *billing.Change) (*interpretation, error) {
	o := c.Order
	if o.Uncancel {
		if _, err := s.setRenewal(ctx, o.Subscription, true); err != nil {
			return nil, err
		}
	}

	done := &interpretation{state: billing.Scheduled, sub: o.Subscription}
	made, err := s.readSchedule(ctx, o.Subscription)
	if err == nil && made == nil {
		made, err = billing.FromStripe(s.Stripe.SubscriptionSchedules.New(&stripe.SubscriptionScheduleParams{
			Params: billing.Params(ctx, c.Key), FromSubscription: &o.Subscription,
		}))
	}
	if err != nil || leadsTo(made, o.Items) {
		return done, err
	}

	start := o.PeriodStart
	if len(made.Phases) > 0 { // keep the start of the current phase
		start = made.Phases[0].StartDate
	}

	_, err = billing.FromStripe(s.Stripe.SubscriptionSchedules.Update(made.ID, &stripe.SubscriptionScheduleParams{
		Params: billing.Params(ctx, c.Key+":phases"), EndBehavior: stripe.String("release"),
		ProrationBehavior: stripe.String("none"),
		Phases: []*stripe.SubscriptionSchedulePhaseParams{
			{
				StartDate: &start, EndDate: &o.PeriodEnd, Items: phaseParams(o.Current),
				ProrationBehavior: stripe.String("none"),
			},
			{Iterations: stripe.Int64(1), Items: phaseParams(o.Items), ProrationBehavior: stripe.String("none")},
		},
	}))

	return done, err
}

func phaseParams(items []billing.Item) (all []*stripe.SubscriptionSchedulePhaseItemParams) {
	for _, i := range items {
		all = append(all,
			&stripe.SubscriptionSchedulePhaseItemParams{
				Price:    stripe.String(i.Price),
				Quantity: stripe.Int64(i.Quantity),
			})
	}

	return all
}

// readSchedule returns the schedule that manages a subscription, or nil.
func (s *Service) readSchedule(ctx context.Context, sub string) (*stripe.SubscriptionSchedule, error) {
	p := &stripe.SubscriptionParams{Params: billing.Params(ctx, "")}
	p.AddExpand("schedule")
	got, err := billing.FromStripe(s.Stripe.Subscriptions.Get(sub, p))
	if err != nil {
		return nil, err
	}
	return got.Schedule, nil
}

// leadsTo reports whether the last phase of a schedule with several phases has the base price of items.
func leadsTo(sched *stripe.SubscriptionSchedule, items []billing.Item) bool {
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

// releaseSchedule ends a schedule without changing the subscription; a schedule that has ended is left alone. The
// operation is idempotent, so each attempt has its own key: with a fixed key, Stripe would repeat the 500 of a failed
// attempt for a day.
func (s *Service) releaseSchedule(ctx context.Context, schedule string) error {
	_, err := billing.FromStripe(s.Stripe.SubscriptionSchedules.Release(schedule,
		&stripe.SubscriptionScheduleReleaseParams{Params: billing.Params(ctx, "")}))
	if err == nil || billing.Classify(err) != billing.Rejected && billing.Classify(err) != billing.NotFound {
		return err
	}

	now, look := billing.FromStripe(s.Stripe.SubscriptionSchedules.Get(schedule,
		&stripe.SubscriptionScheduleParams{Params: billing.Params(ctx, "")}))
	if look == nil && now.Status != stripe.SubscriptionScheduleStatusActive &&
		now.Status != stripe.SubscriptionScheduleStatusNotStarted {
		return nil
	}

	return err
}
