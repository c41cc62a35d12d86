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
	_, err = s.viewState(ctx, "", func(tx *tx) *problem {
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
	if err := s.runDueUntil(ctx, to.Unix()); err != nil {
		return err
	}

	_, err := s.updateState(ctx, "", origin{}, func(tx *tx) *problem {
		tx.advanceClock(to.Unix())
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
	return s.runDueUntil(ctx, now.Unix())
}

// advanceClock moves the clock forward to at, unless it has already passed it.
func (tx *tx) advanceClock(at int64) {
	if at > tx.readSettings().clockNow(tx.s.o.Now()) {
		tx.updateSettings(func(st *settings) { st.Ahead = at - tx.s.o.Now().Unix() })
	}
	tx.now = at
}

// together is how many due objects one transaction processes.
const together = 25

func (s *Sandbox) runDueUntil(ctx context.Context, end int64) error {
	for {
		done := 0
		var at *Row
		refused, err := s.updateState(ctx, "", origin{}, func(tx *tx) *problem {
			for done = 0; done < together; done++ {
				tx.flush()
				rows, err := tx.rows.Due(ctx, timerClock, end, 1)
				tx.abortOnError(err)
				if len(rows) == 0 {
					break
				}

				at = rows[0]
				tx.runDue(at)
			}

			return nil
		})
		if err == nil && refused != nil { // an object in an unexpected state must not block the others
			s.o.Log.ErrorContext(ctx, "sandbox stripe object taken off clock", "kind", at.Kind, "id", at.ID, "error",
				refused.asError())
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
	_, err := s.updateState(ctx, "", origin{}, func(tx *tx) *problem {
		r, err := tx.rows.Get(ctx, at.Account, at.Kind, at.ID)
		tx.abortOnError(err)
		if r != nil {
			r.Due = 0
			r.Timer = ""
			tx.abortOnError(tx.rows.Put(ctx, r))
		}

		return nil
	})
	return err
}

// runDue processes one object at its due time.
func (tx *tx) runDue(r *Row) {
	tx.advanceClock(r.Due)
	tx.inAccount(r.Account, func() {
		switch kind(r.Kind) {
		case kindSubscription:
			tx.runDueSubscription(decodeRow[subscription](tx, r))
		case kindInvoice:
			tx.runDueInvoice(decodeRow[invoice](tx, r))
		case kindEvent:
			tx.drop(decodeRow[event](tx, r))
		case kindKey:
			tx.drop(decodeRow[usedKey](tx, r))
		default:
			tx.abortOnError(fmt.Errorf("a %s has no clock", r.Kind))
		}
	})
}

func (tx *tx) runDueSubscription(s *subscription) {
	if s.Status == "incomplete" {
		tx.expireUnpaid(s)
		return
	}

	if p := s.Own.Pending; p != nil && tx.now >= p.Expires {
		before := tx.renderObject(s, nil)
		tx.dropPending(s)
		tx.emitEvent("customer.subscription.pending_update_expired", s, before)
		tx.storeChanged(s, before)
	}

	if at := s.trialWarningDue(); at != 0 && tx.now >= at {
		s.Own.Warned = int64(s.TrialEnd)
		tx.put(s)
		tx.emitEvent("customer.subscription.trial_will_end", s, nil)
	}

	if at := s.upcomingDue(); at != 0 && tx.now >= at {
		s.Own.Announced = s.End
		tx.put(s)
		if inv := tx.previewInvoice(s, change{}, false); inv != nil {
			w := tx.showPreview(inv, nil)
			tx.emitRendered("invoice.upcoming", w, nil)
		}
	}

	if s.Own.Phase != 0 && tx.now >= s.Own.Phase {
		tx.nextPhase(s)
	}

	switch {
	case s.hasEnded():
	case s.CancelAt != 0 && tx.now >= int64(s.CancelAt):
		tx.endSubscription(s, "cancellation_requested", true) // also bills the pending items
	case tx.now >= s.End:
		tx.startNextPeriod(s)
	}
}

// expireUnpaid ends a subscription that was never paid.
func (tx *tx) expireUnpaid(s *subscription) {
	before := tx.renderObject(s, nil)
	if inv := find[invoice](tx, string(s.Latest)); inv != nil && inv.Status == "open" {
		tx.voidOpenInvoice(inv)
	}

	s.Status = "incomplete_expired"
	s.Ended = moment(tx.now)
	tx.storeChanged(s, before)
}

// startNextPeriod starts the next period with a draft of its invoice. A trial that ends becomes active.
func (tx *tx) startNextPeriod(s *subscription) {
	before := tx.renderObject(s, nil)
	from := s.Start
	to := s.End
	s.Start = s.End
	s.End = tx.cycleOf(s.Own.Items).endAfter(s.Anchor, s.Start)
	if s.Status == "trialing" {
		s.Status = "active"
	}

	tx.put(s)
	tx.draftInvoice(s, "subscription_cycle",
		append(tx.pendingLines(s), tx.periodLines(s.ID, s.Own.Items, s.Start, s.End)...), from, to)
	tx.storeChanged(s, before)
}

func (tx *tx) runDueInvoice(inv *invoice) {
	switch inv.Status {
	case "draft":
		tx.finaliseInvoice(inv)
		if inv.Status == "open" && inv.Collection == "charge_automatically" {
			tx.collectInvoice(inv, "", true)
		}
	case "open":
		if inv.Collection == "charge_automatically" {
			inv.NextTry = 0
			tx.collectInvoice(inv, "", true)
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
