package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

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

	since, err := s.readPosition(ctx, name)
	if err != nil {
		return 0, err
	}

	now := s.Now()
	from := now.Add(-horizon)
	if n, err := strconv.ParseInt(since, 10, 64); err == nil {
		from = time.Unix(n, 0).Add(-billing.ListingDelay)
	}

	known, err := s.listKnownEvents(ctx, from)
	if err != nil {
		return 0, err
	}

	pace := billing.NewPacer(s.Now, s.Sleep)
	var last string
	newest := from.Unix() + int64(billing.ListingDelay/time.Second)
	for more := true; more; {
		p := &stripe.EventListParams{CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: from.Unix()}}
		p.Context = ctx
		p.Limit = stripe.Int64(100)
		p.Single = true
		if last != "" {
			p.StartingAfter = &last
		}
		if account != "" {
			p.StripeAccount = &account
		}

		var page []*stripe.Event
		err := pace.Do(ctx, func() error {
			it := s.Stripe.Events.List(p)
			page = nil
			for it.Next() {
				page = append(page, it.Event())
			}

			_, err := billing.FromStripe(struct{}{}, it.Err())
			if err == nil {
				more = it.Meta().HasMore
			}

			return err
		})
		if err != nil {
			return found, err
		}

		for _, e := range page {
			last = e.ID
			newest = max(newest, e.Created)
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
			if e.Account = account; account != "" && !connect.MustFetch(e) {
				continue // not relevant to us
			}
			if err := s.storeEvent(ctx, e, body, account != "", "sync"); err != nil {
				return found, err
			}

			found++
		}

		more = more && len(page) > 0
	}

	return found, s.writePosition(ctx, name, strconv.FormatInt(newest, 10))
}

// listKnownEvents returns the ids of the events since a time, by Stripe's clock.
func (s *Service) listKnownEvents(ctx context.Context, since time.Time) (map[string]bool, error) {
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
