package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// RefreshAccount reads the org's account anew and applies what differs, with also in the same transaction. It answers
// whether anything did. Two that overtake each other between the reading and the writing are told by the row's version,
// and the later reads again.
func (s *Service) RefreshAccount(ctx context.Context, org id.ID, why string, also ...func(context.Context, *postgres.Tx) error) (changed bool, err error) {
	for range tries {
		c, err := s.connected(ctx, org)
		if err != nil {
			return false, err
		}
		if c.Account == "" {
			return false, s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return each(ctx, tx, also) })
		}
		f, err := s.readAccount(ctx, c.Account)
		if err != nil {
			return false, err
		}
		if changed, err = s.applyAccount(ctx, c, f, why, also...); !errors.Is(err, errMoved) {
			return changed, err
		}
	}
	return false, errMoved
}

// Returned is RefreshAccount for a browser that comes back from Stripe's pages, which proves nothing.
func (s *Service) Returned(ctx context.Context, org id.ID) error {
	_, err := s.RefreshAccount(ctx, org, told)
	return outward(err)
}

// readAccount asks Stripe for one account. One that we may not see is an answer, not an error.
func (s *Service) readAccount(ctx context.Context, account string) (Facts, error) {
	got, err := asked(s.stripe.Accounts.GetByID(account, &stripe.AccountParams{Params: given(ctx, "")}))
	switch {
	case lostAccess(err):
		return Facts{Gone: true}, nil
	case err != nil:
		return Facts{}, err
	}
	return factsOf(got), nil
}

// applyAccount writes f, if nothing was applied since c was read; else errMoved.
func (s *Service) applyAccount(ctx context.Context, c *Connected, f Facts, why string, also ...func(context.Context, *postgres.Tx) error) (changed bool, err error) {
	if len(also) == 0 && c.same(&f) {
		return false, nil
	}
	err = s.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error {
		is, err := readConnected(ctx, tx, " FOR UPDATE")
		if err != nil {
			return err
		}
		if is.Version != c.Version || is.Account != c.Account {
			return errMoved
		}
		if changed = !is.same(&f); changed {
			if err := s.enter(ctx, tx, is, is.Account, f, why); err != nil {
				return err
			}
		}
		return each(ctx, tx, also)
	})
	return changed, err
}

// workConnected does what an event of an org's account asks for.
func (s *Service) workConnected(ctx context.Context, org id.ID, e *Event, mark func(outcome string) func(context.Context, *postgres.Tx) error) error {
	c, err := s.connected(ctx, org)
	if err != nil {
		return err
	}
	if c.Account != e.Account { // of an account that was the org's
		return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) })
	}
	switch stripe.EventType(e.Type) {
	case stripe.EventTypeAccountUpdated, stripe.EventTypeAccountApplicationAuthorized, stripe.EventTypeAccountApplicationDeauthorized,
		stripe.EventTypeAccountExternalAccountCreated, stripe.EventTypeAccountExternalAccountDeleted, stripe.EventTypeAccountExternalAccountUpdated,
		stripe.EventTypeCapabilityUpdated:
		changed, err := s.RefreshAccount(ctx, org, told, mark("applied"))
		if err != nil || !changed {
			return err
		}
		if err := s.Rates(ctx, org); err != nil { // the sync does it, too
			s.Log.WarnContext(ctx, "the fees of a reseller's sales could not be changed", "org", org.String(), "error", redacted(err))
		}
		return nil
	case stripe.EventTypeInvoicePaid, stripe.EventTypeChargeSucceeded, stripe.EventTypeChargeUpdated, stripe.EventTypeChargeRefunded:
		return s.workPayment(ctx, org, c.Account, hintOf(e.Payload), mark)
	case stripe.EventTypeCustomerSubscriptionDeleted, stripe.EventTypeCustomerSubscriptionUpdated:
		return s.workSale(ctx, org, c.Account, hintOf(e.Payload), mark)
	default:
		return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) })
	}
}

// whoseAccount is the org of a connected account, the zero one where it is nobody's. It is asked each time: an org may
// have another account tomorrow.
func (s *Service) whoseAccount(ctx context.Context, account string) (org id.ID, err error) {
	if account == "" {
		return org, nil
	}
	err = s.System.View(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT org_id FROM connect_account WHERE stripe_id = $1`, []any{account}, &org)
	})
	if err != nil && !postgres.None(err) {
		return org, fmt.Errorf("find connected account: %w", err)
	}
	return org, nil
}

// abandoned is how old an intent is whose process is taken for dead.
const abandoned = time.Minute

// Accounts compares all connected accounts with Stripe's, and goes on with those that a process left half made. Stripe
// lists a hundred at a time, so that ten thousand cost a hundred requests; one that is not listed is asked for by itself,
// a disconnected one only in a whole sync. One that fails stops no other.
func (s *Service) Accounts(ctx context.Context, whole bool) (Report, error) {
	var r Report
	known, begun, err := s.allConnected(ctx)
	if err != nil {
		return r, err
	}
	pace := newPace(s.Now, s.Sleep)
	turn := func(org id.ID, work func() (bool, error)) error {
		var changed bool
		err := pace.do(ctx, func() (err error) {
			r.Requests++
			changed, err = work()
			return err
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.Failed++
			s.Metrics.repairs.WithLabelValues("failed").Inc()
			s.Log.ErrorContext(ctx, "a connected account cannot be synced", "org", org.String(), "error", redacted(err))
		case changed:
			r.Repaired++
		default:
			r.Same++
		}
		return nil
	}
	for _, org := range begun {
		if err := turn(org, func() (bool, error) { _, err := s.account(ctx, org); return true, err }); err != nil {
			return r, err
		}
	}
	if len(known) == 0 {
		return r, nil
	}
	if err := s.listed(ctx, pace, known, &r); err != nil {
		return r, err
	}
	for _, c := range known { // those that differ, or were not listed
		if c.State == Disconnected && !whole {
			continue
		}
		if err := turn(c.Org, func() (bool, error) { return s.RefreshAccount(ctx, c.Org, found) }); err != nil {
			return r, err
		}
	}
	return r, nil
}

// listed takes the accounts out of known that Stripe lists as they are known.
func (s *Service) listed(ctx context.Context, pace *pace, known map[string]*Connected, r *Report) error {
	p := &stripe.AccountListParams{}
	p.Context, p.Limit, p.Single = ctx, stripe.Int64(100), true
	for more := true; more; {
		var page []*stripe.Account
		err := pace.do(ctx, func() error {
			r.Requests++
			it := s.stripe.Accounts.List(p)
			page = nil
			for it.Next() {
				page = append(page, it.Account())
			}
			_, err := asked(struct{}{}, it.Err())
			if err == nil {
				more = it.Meta().HasMore && len(page) > 0
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, a := range page {
			p.StartingAfter = stripe.String(a.ID)
			f := factsOf(a)
			if c := known[a.ID]; c != nil && c.same(&f) {
				delete(known, a.ID)
				r.Same++
			}
		}
	}
	return nil
}

// allConnected are all accounts that we know by id, and the orgs whose account was begun some time ago and is not there.
func (s *Service) allConnected(ctx context.Context) (known map[string]*Connected, begun []id.ID, err error) {
	known = map[string]*Connected{}
	err = s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT `+connectedColumns+` FROM connect_account WHERE stripe_id IS NOT NULL OR keyed_at < $1`, s.now().Add(-abandoned))
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, scanConnected)
		for _, c := range all {
			if c.Account == "" {
				begun = append(begun, c.Org)
			} else {
				known[c.Account] = c
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read connected accounts: %w", err)
	}
	return known, begun, nil
}

// concernsUs tells whether an event of a connected account is one that workConnected does anything about.
func concernsUs(e *stripe.Event) bool {
	switch e.Type {
	case stripe.EventTypeInvoicePaid, stripe.EventTypeChargeSucceeded, stripe.EventTypeChargeUpdated, stripe.EventTypeChargeRefunded,
		stripe.EventTypeCustomerSubscriptionDeleted, stripe.EventTypeCustomerSubscriptionUpdated:
		return true
	default:
		return false // the account itself is read by Accounts
	}
}
