package stripe

import (
	"context"
	"fmt"
	"time"
)

// The sandbox's clock is the real clock plus all advances. Due events happen in order, each at its due time, even if
// they are processed later.

// Now returns the sandbox's time.
func (s *Sandbox) Now(ctx context.Context) (now time.Time, err error) {
	_, err = s.look(ctx, "", func(tx *tx) *problem {
		now = time.Unix(tx.now, 0).UTC()
		return nil
	})
	return now, err
}

// Advance moves the clock forward and processes everything that becomes due: renewals, ends of trials, payment retries,
// and the expiry of pending updates and of first payments.
func (s *Sandbox) Advance(ctx context.Context, by time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.AdvanceTo(ctx, now.Add(by))
}

// AdvanceTo advances the clock to the given time. A past time is not an error and changes nothing.
func (s *Sandbox) AdvanceTo(ctx context.Context, to time.Time) error {
	if err := s.until(ctx, to.Unix()); err != nil {
		return err
	}
	_, err := s.do(ctx, "", origin{}, func(tx *tx) *problem {
		tx.reach(to.Unix())
		return nil
	})
	return err
}

// Tick processes everything that is due.
func (s *Sandbox) Tick(ctx context.Context) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.until(ctx, now.Unix())
}

// reach moves the clock forward to at, unless it has already passed it.
func (tx *tx) reach(at int64) {
	if at > tx.settings().now(tx.s.o.Now()) {
		tx.set(func(st *settings) { st.Ahead = at - tx.s.o.Now().Unix() })
	}
	tx.now = at
}

// together is how many due objects one transaction processes.
const together = 25

func (s *Sandbox) until(ctx context.Context, end int64) error {
	for {
		done := 0
		var at *Row
		refused, err := s.do(ctx, "", origin{}, func(tx *tx) *problem {
			for done = 0; done < together; done++ {
				tx.flush()
				rows, err := tx.rows.Due(ctx, timerClock, end, 1)
				tx.try(err)
				if len(rows) == 0 {
					break
				}
				at = rows[0]
				tx.turn(at)
			}
			return nil
		})
		if err == nil && refused != nil { // an object in an unexpected state must not block the others
			s.o.Log.ErrorContext(ctx, "sandbox stripe object taken off clock", "kind", at.Kind, "id", at.ID, "error",
				refused.err())
			err = s.giveUp(ctx, at)
			done = together
		}
		if err != nil || done < together {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// giveUp removes an object's timer. The transaction's earlier work was undone and is processed again.
func (s *Sandbox) giveUp(ctx context.Context, at *Row) error {
	_, err := s.do(ctx, "", origin{}, func(tx *tx) *problem {
		r, err := tx.rows.Get(ctx, at.Account, at.Kind, at.ID)
		tx.try(err)
		if r != nil {
			r.Due, r.Timer = 0, ""
			tx.try(tx.rows.Put(ctx, r))
		}
		return nil
	})
	return err
}

// turn processes one object at its due time.
func (tx *tx) turn(r *Row) {
	tx.reach(r.Due)
	tx.in(r.Account, func() {
		switch kind(r.Kind) {
		case kindSubscription:
			tx.turnSubscription(open[subscription](tx, r))
		case kindInvoice:
			tx.turnInvoice(open[invoice](tx, r))
		case kindEvent:
			tx.drop(open[event](tx, r))
		case kindKey:
			tx.drop(open[used](tx, r))
		default:
			tx.try(fmt.Errorf("a %s has no clock", r.Kind))
		}
	})
}

func (tx *tx) turnSubscription(s *subscription) {
	if s.Status == "incomplete" {
		tx.expire(s)
		return
	}
	if p := s.Own.Pending; p != nil && tx.now >= p.Expires {
		before := tx.show(s, nil)
		tx.dropPending(s)
		tx.emit("customer.subscription.pending_update_expired", s, before)
		tx.changed(s, before)
	}
	if at := s.warning(); at != 0 && tx.now >= at {
		s.Own.Warned = int64(s.TrialEnd)
		tx.put(s)
		tx.emit("customer.subscription.trial_will_end", s, nil)
	}
	if at := s.announcement(); at != 0 && tx.now >= at {
		s.Own.Announced = s.End
		tx.put(s)
		if inv := tx.preview(s, change{}, false); inv != nil {
			w := tx.showPreview(inv, nil)
			tx.emitShown("invoice.upcoming", w, nil)
		}
	}
	if s.Own.Phase != 0 && tx.now >= s.Own.Phase {
		tx.nextPhase(s)
	}
	switch {
	case s.over():
	case s.CancelAt != 0 && tx.now >= int64(s.CancelAt):
		tx.cancel(s, "cancellation_requested", true) // also bills the pending items
	case tx.now >= s.End:
		tx.renew(s)
	}
}

// expire ends a subscription that was never paid.
func (tx *tx) expire(s *subscription) {
	before := tx.show(s, nil)
	if inv := find[invoice](tx, string(s.Latest)); inv != nil && inv.Status == "open" {
		tx.void(inv)
	}
	s.Status, s.Ended = "incomplete_expired", moment(tx.now)
	tx.changed(s, before)
}

// renew starts the next period with a draft of its invoice. A trial that ends becomes active.
func (tx *tx) renew(s *subscription) {
	before := tx.show(s, nil)
	from, to := s.Start, s.End
	s.Start = s.End
	s.End = tx.cycleOf(s.Own.Items).end(s.Anchor, s.Start)
	if s.Status == "trialing" {
		s.Status = "active"
	}
	tx.put(s)
	tx.draft(s, "subscription_cycle", append(tx.sweep(s), tx.recurring(s.ID, s.Own.Items, s.Start, s.End)...), from, to)
	tx.changed(s, before)
}

func (tx *tx) turnInvoice(inv *invoice) {
	switch inv.Status {
	case "draft":
		tx.finalise(inv)
		if inv.Status == "open" && inv.Collection == "charge_automatically" {
			tx.collect(inv, "", true)
		}
	case "open":
		if inv.Collection == "charge_automatically" {
			inv.NextTry = 0
			tx.collect(inv, "", true)
			return
		}
		inv.Auto = false // past due only once
		tx.put(inv)
		if s := find[subscription](tx, string(inv.Sub)); s != nil {
			tx.moneyMissing(s, inv)
		}
	}
}

// Run processes due objects and delivers webhooks until ctx ends. Any number of processes may run it on one store.
func (s *Sandbox) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for name, do := range map[string]func(context.Context) error{"clock": s.Tick, "deliveries": s.deliverDue} {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				s.o.Log.ErrorContext(ctx, "sandbox stripe background task failed", "part", name, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
