package connect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ReconcileAccounts compares all connected accounts with Stripe and completes those that a process left unfinished.
// Stripe lists 100 accounts per request, so 10,000 accounts cost 100 requests. An account that is not listed is read
// individually; a disconnected account only in a full sync. An account that fails does not stop the others.
func (s *Service) ReconcileAccounts(ctx context.Context, whole bool) (billing.Report, error) {
	var r billing.Report
	known, begun, err := s.allConnected(ctx)
	if err != nil {
		return r, err
	}

	pace := billing.NewPacer(s.Now, s.Sleep)
	turn := func(org id.ID, work func() (bool, error)) error {
		var changed bool
		err := pace.Do(ctx, func() (err error) {
			r.Requests++
			changed, err = work()
			return err
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.Failed++
			s.Metrics.Repairs.WithLabelValues("failed").Inc()
			s.Log.ErrorContext(ctx, "sync of a connected account failed", "org_id", org.String(), "error",
				billing.Redacted(err))
		case changed:
			r.Repaired++
		default:
			r.Same++
		}

		return nil
	}

	for _, org := range begun {
		complete := func() (bool, error) {
			_, err := s.ensureAccount(ctx, org)
			return true, err
		}
		if err := turn(org, complete); err != nil {
			return r, err
		}
	}

	if len(known) == 0 {
		return r, nil
	}
	if err := s.dropUnchanged(ctx, pace, known, &r); err != nil {
		return r, err
	}

	for _, c := range known { // those that differ or were not listed
		if c.State == Disconnected && !whole {
			continue
		}
		refresh := func() (bool, error) { return s.RefreshAccount(ctx, c.Org, billing.BySync) }
		if err := turn(c.Org, refresh); err != nil {
			return r, err
		}
	}

	return r, nil
}

// dropUnchanged removes from known the accounts that Stripe lists unchanged.
func (s *Service) dropUnchanged(ctx context.Context, pace *billing.Pacer, known map[string]*Account,
	r *billing.Report,
) error {
	p := &stripe.AccountListParams{}
	p.Context = ctx
	p.Limit = stripe.Int64(100)
	p.Single = true
	for more := true; more; {
		var page []*stripe.Account
		err := pace.Do(ctx, func() error {
			r.Requests++
			it := s.Stripe.Accounts.List(p)
			page = nil
			for it.Next() {
				page = append(page, it.Account())
			}

			_, err := billing.FromStripe(struct{}{}, it.Err())
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
			if c := known[a.ID]; c != nil && c.sameRow(&f) {
				delete(known, a.ID)
				r.Same++
			}
		}
	}

	return nil
}

// allConnected returns all accounts with a known id, and the orgs with an abandoned intent.
func (s *Service) allConnected(ctx context.Context) (known map[string]*Account, begun []id.ID, err error) {
	known = map[string]*Account{}
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT `+accountColumns+` FROM connect_account WHERE stripe_id IS NOT NULL OR keyed_at < $1`,
			s.Timestamp().Add(-abandoned))
		if err != nil {
			return err
		}

		all, err := pgx.CollectRows(rows, scanAccount)
		for _, c := range all {
			if c.ID == "" {
				begun = append(begun, c.Org)
			} else {
				known[c.ID] = c
			}
		}

		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read connected accounts: %w", err)
	}

	return known, begun, nil
}
