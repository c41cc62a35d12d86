package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Report is the result of a sync.
type Report struct {
	Same, Repaired, Failed int
	Requests               int
}

// overlap is how far a fetch of missed events starts before the end of the last one: Stripe lists an event some time
// after its timestamp.
const overlap = 5 * time.Minute

// horizon is how far back the first fetch starts.
const horizon = 24 * time.Hour

// FetchMissedEvents lists Stripe's events since the last fetch and stores the missing ones as if they had been
// received. It returns how many it stored.
func (s *Service) FetchMissedEvents(ctx context.Context) (found int, err error) {
	return s.fetchMissedEvents(ctx, "")
}

// fetchMissedEvents is FetchMissedEvents for a connected account; "" means the platform's account.
func (s *Service) fetchMissedEvents(ctx context.Context, account string) (found int, err error) {
	name := "events"
	if account != "" {
		name += " of " + account
	}
	since, err := s.position(ctx, name)
	if err != nil {
		return 0, err
	}
	now := s.Now()
	from := now.Add(-horizon)
	if n, err := strconv.ParseInt(since, 10, 64); err == nil {
		from = time.Unix(n, 0).Add(-overlap)
	}
	known, err := s.known(ctx, from)
	if err != nil {
		return 0, err
	}
	pace := newPace(s.Now, s.Sleep)
	var last string
	newest := from.Unix() + int64(overlap/time.Second)
	for more := true; more; {
		p := &stripe.EventListParams{CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: from.Unix()}}
		p.Context, p.Limit, p.Single = ctx, stripe.Int64(100), true
		if last != "" {
			p.StartingAfter = &last
		}
		if account != "" {
			p.StripeAccount = &account
		}
		var page []*stripe.Event
		err := pace.do(ctx, func() error {
			it := s.stripe.Events.List(p)
			page = nil
			for it.Next() {
				page = append(page, it.Event())
			}
			_, err := asked(struct{}{}, it.Err())
			if err == nil {
				more = it.Meta().HasMore
			}
			return err
		})
		if err != nil {
			return found, err
		}
		for _, e := range page {
			last, newest = e.ID, max(newest, e.Created)
			if known[e.ID] {
				continue
			}
			body, err := json.Marshal(map[string]any{
				"id": e.ID, "type": e.Type, "created": e.Created,
				"data": map[string]json.RawMessage{"object": e.Data.Raw},
			})
			if err != nil {
				return found, fmt.Errorf("encode event: %w", err)
			}
			if e.Account = account; account != "" && !concernsUs(e) {
				continue // not relevant to us
			}
			if err := s.store(ctx, e, body, account != "", "sync"); err != nil {
				return found, err
			}
			found++
		}
		more = more && len(page) > 0
	}
	return found, s.reached(ctx, name, strconv.FormatInt(newest, 10))
}

// known returns the ids of the events since a time, by Stripe's clock.
func (s *Service) known(ctx context.Context, since time.Time) (map[string]bool, error) {
	out := map[string]bool{}
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id FROM stripe_event WHERE created_at >= $1`, since.Add(-time.Second))
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, one := range ids {
			out[one] = true
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return out, nil
}

func (s *Service) position(ctx context.Context, name string) (at string, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT position FROM billing_sync WHERE name = $1`, []any{name}, &at)
	})
	if postgres.None(err) {
		return "", nil
	}
	return at, err
}

func (s *Service) reached(ctx context.Context, name, at string) error {
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO billing_sync (name, position) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
			SET position = excluded.position, updated_at = now()`, name, at)
		return nil
	})
}

// pageOf is the number of orgs read per query.
const pageOf = 500

// ReconcileAll reads every customer's subscription from Stripe, within the request budget, and repairs differences. It
// logs a customer that fails, continues with the others, and retries it in the next run. An interrupted run resumes at
// its last position.
func (s *Service) ReconcileAll(ctx context.Context) (Report, error) {
	const name = "whole"
	var r Report
	at, err := s.position(ctx, name)
	if err != nil {
		return r, err
	}
	after, err := id.Parse(at)
	if err != nil {
		after = id.ID{}
	}
	pace := newPace(s.Now, s.Sleep)
	for {
		orgs, err := s.customers(ctx, after)
		if err != nil {
			return r, err
		}
		for _, org := range orgs {
			err := s.visit(ctx, pace, org, &r)
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			if err != nil {
				r.Failed++
				s.Metrics.repairs.WithLabelValues("failed").Inc()
				s.Log.ErrorContext(ctx, "sync of a subscription failed", "org_id", org.String(), "error", redacted(err))
			}
			after = org
		}
		if len(orgs) < pageOf {
			break
		}
		if err := s.reached(ctx, name, after.String()); err != nil {
			return r, err
		}
	}
	for result, n := range map[string]int{"same": r.Same, "repaired": r.Repaired, "failed": r.Failed} {
		s.Metrics.walked.WithLabelValues(result).
			Set(float64(n)) //nolint:forbidigo // a gauge of subscriptions, no money
	}
	return r, s.reached(ctx, name, "")
}

// visit refreshes one org.
func (s *Service) visit(ctx context.Context, pace *pace, org id.ID, r *Report) error {
	var changed bool
	err := pace.do(ctx, func() (err error) {
		r.Requests++
		changed, err = s.Refresh(ctx, org, found)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, errMoved):
		return err
	case changed:
		r.Repaired++
	default:
		r.Same++
	}
	return nil
}

func (s *Service) customers(ctx context.Context, after id.ID) (orgs []id.ID, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT org_id FROM billing_customer WHERE org_id > $1 AND stripe_id IS NOT NULL ORDER BY org_id
				LIMIT $2`, after, pageOf)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read customers: %w", err)
	}
	return orgs, nil
}

// ReconcileDue refreshes the orgs with a paid period that has ended by our clock, without an event of the next period.
// It returns how many there were.
func (s *Service) ReconcileDue(ctx context.Context) (Report, error) {
	var r Report
	var orgs []id.ID
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT org_id FROM stripe_subscription WHERE live AND period_end < $1 ORDER BY period_end LIMIT $2`,
			s.now().Add(-overlap), pageOf)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return r, fmt.Errorf("read due subscriptions: %w", err)
	}
	pace := newPace(s.Now, s.Sleep)
	for _, org := range orgs {
		if err := s.visit(ctx, pace, org, &r); err != nil {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			r.Failed++
			s.Log.ErrorContext(ctx, "sync of a subscription failed", "org_id", org.String(), "error", redacted(err))
		}
	}
	return r, nil
}
