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

// RefreshAccount reads the org's account from Stripe and applies the differences, with also in the same transaction. It
// reports whether anything changed. The row's version detects a concurrent refresh between the read and the write; the
// later one reads again.
func (s *Service) RefreshAccount(ctx context.Context, org id.ID, why string,
	also ...func(context.Context, *postgres.Tx) error,
) (changed bool, err error) {
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

// Returned is RefreshAccount for a browser that returns from Stripe's pages. The redirect itself proves nothing.
func (s *Service) Returned(ctx context.Context, org id.ID) error {
	_, err := s.RefreshAccount(ctx, org, told)
	return outward(err)
}

// readAccount reads one account from Stripe. An account that we cannot access is returned as Gone, not as an error.
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

// applyAccount writes f. It returns errMoved if anything was applied since c was read.
func (s *Service) applyAccount(ctx context.Context, c *Connected, f Facts, why string,
	also ...func(context.Context, *postgres.Tx) error,
) (changed bool, err error) {
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

// workConnected processes an event of the org's account.
func (s *Service) workConnected(ctx context.Context, org id.ID, e *Event,
	mark func(outcome string) func(context.Context, *postgres.Tx) error,
) error {
	c, err := s.connected(ctx, org)
	if err != nil {
		return err
	}
	if c.Account != e.Account { // an event of a former account of the org
		return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) })
	}
	switch stripe.EventType(e.Type) {
	case stripe.EventTypeAccountUpdated, stripe.EventTypeAccountApplicationAuthorized,
		stripe.EventTypeAccountApplicationDeauthorized,
		stripe.EventTypeAccountExternalAccountCreated, stripe.EventTypeAccountExternalAccountDeleted,
		stripe.EventTypeAccountExternalAccountUpdated,
		stripe.EventTypeCapabilityUpdated:
		changed, err := s.RefreshAccount(ctx, org, told, mark("applied"))
		if err != nil || !changed {
			return err
		}
		if err := s.Rates(ctx, org); err != nil { // the sync retries it
			s.Log.WarnContext(ctx, "update of a reseller's fees failed", "org_id", org.String(),
				"error", redacted(err))
		}
		return nil
	case stripe.EventTypeInvoicePaid, stripe.EventTypeChargeSucceeded, stripe.EventTypeChargeUpdated,
		stripe.EventTypeChargeRefunded:
		return s.workPayment(ctx, org, c.Account, hintOf(e.Payload), mark)
	case stripe.EventTypeCustomerSubscriptionDeleted, stripe.EventTypeCustomerSubscriptionUpdated:
		return s.workSale(ctx, org, c.Account, hintOf(e.Payload), mark)
	default:
		return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) })
	}
}

// whoseAccount returns the org of a connected account, or the zero id if no org has it. The result is not cached,
// because an org's account may change.
func (s *Service) whoseAccount(ctx context.Context, account string) (org id.ID, err error) {
	if account == "" {
		return org, nil
	}
	err = s.System.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT org_id FROM connect_account WHERE stripe_id = $1`, []any{account}, &org)
	})
	if err != nil && !postgres.None(err) {
		return org, fmt.Errorf("find connected account: %w", err)
	}
	return org, nil
}

// abandoned is the age after which the process of an intent is considered dead.
const abandoned = time.Minute

// Accounts compares all connected accounts with Stripe and completes those that a process left unfinished. Stripe lists
// 100 accounts per request, so 10,000 accounts cost 100 requests. An account that is not listed is read individually; a
// disconnected account only in a full sync. An account that fails does not stop the others.
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
			s.Log.ErrorContext(ctx, "sync of a connected account failed", "org_id", org.String(), "error",
				redacted(err))
		case changed:
			r.Repaired++
		default:
			r.Same++
		}
		return nil
	}
	for _, org := range begun {
		if err := turn(org, func() (bool, error) {
			_, err := s.account(ctx, org)
			return true, err
		}); err != nil {
			return r, err
		}
	}
	if len(known) == 0 {
		return r, nil
	}
	if err := s.listed(ctx, pace, known, &r); err != nil {
		return r, err
	}
	for _, c := range known { // those that differ or were not listed
		if c.State == Disconnected && !whole {
			continue
		}
		if err := turn(c.Org, func() (bool, error) { return s.RefreshAccount(ctx, c.Org, found) }); err != nil {
			return r, err
		}
	}
	return r, nil
}

// listed removes from known the accounts that Stripe lists unchanged.
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

// allConnected returns all accounts with a known id, and the orgs with an abandoned intent.
func (s *Service) allConnected(ctx context.Context) (known map[string]*Connected, begun []id.ID, err error) {
	known = map[string]*Connected{}
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT `+connectedColumns+` FROM connect_account WHERE stripe_id IS NOT NULL OR keyed_at < $1`, s.now().
				Add(-abandoned))
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

// concernsUs reports whether the sync has to fetch an event of a connected account, because workConnected handles it.
func concernsUs(e *stripe.Event) bool {
	switch e.Type {
	case stripe.EventTypeInvoicePaid, stripe.EventTypeChargeSucceeded, stripe.EventTypeChargeUpdated,
		stripe.EventTypeChargeRefunded,
		stripe.EventTypeCustomerSubscriptionDeleted, stripe.EventTypeCustomerSubscriptionUpdated:
		return true
	default:
		return false // Accounts reads the account itself
	}
}
