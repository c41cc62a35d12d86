package sync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Published is the result of Publish for one price.
type Published struct {
	Name     string // lookup key
	Done     string // made, renewed or kept; in a dry run, the planned action
	ID       string // Stripe's id; "" if not created yet
	Amount   int64  // in minor units
	Currency string
}

// wanted is one price that the catalogue requires.
type wanted struct {
	billing.Sold
	product, name string
	amount        int64
}

// lookupKey returns Stripe's lookup key, which stays the same when a price is replaced.
func (w wanted) lookupKey() string { return "funnelwork_" + w.Plan + "_" + w.Kind + "_" + w.Interval }

// Publish creates Stripe's products and prices from the catalogue and stores their ids. It is idempotent and safe for
// concurrent use: a price found by its lookup key with the right amount is kept; a price with another amount is
// replaced, and existing subscriptions keep the old price. With dry, nothing is written. A temporary error, such as an
// idempotency key still in use by a killed process or too many requests, is retried for a few seconds and then
// returned.
func (s *Service) Publish(ctx context.Context, dry bool) (all []Published, err error) {
	for _, w := range s.pricesForSale() {
		one, err := s.publishWithRetries(ctx, w, dry)
		if err != nil {
			return all, fmt.Errorf("publish %s: %w", w.lookupKey(), billing.Redacted(err))
		}
		all = append(all, one)
	}

	return all, nil
}

// The delays between attempts: for one price, they start at publishFirst and double up to publishMost. KeepPublishing
// waits at most keepMost, because a process on the sandbox becomes ready only when Publish has succeeded.
const (
	publishTries = 4
	publishFirst = 250 * time.Millisecond
	publishMost  = 30 * time.Second
	keepMost     = 4 * time.Second
)

// KeepPublishing calls Publish until it succeeds or ctx is done; then it returns ctx's error. It logs each failure. It
// is for a process that already serves requests: a request for a plan without a price gets fault.Unavailable meanwhile.
func (s *Service) KeepPublishing(ctx context.Context) error {
	for wait := time.Second; ; wait = min(2*wait, keepMost) {
		_, err := s.Publish(ctx, false)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}

		s.Log.WarnContext(ctx, "publishing prices failed; plans without a price cannot be bought yet", "error", err,
			"again_in", wait)
		if err := s.sleepFor(ctx, wait); err != nil {
			return err
		}
	}
}

func (s *Service) sleepFor(ctx context.Context, d time.Duration) error {
	if s.Sleep != nil {
		return s.Sleep(ctx, d)
	}
	return billing.Pause(ctx, d)
}

// publishWithRetries is publishPrice with retries of temporary errors. Each attempt reads Stripe's state first, so it
// detects a price that a lost response created.
func (s *Service) publishWithRetries(ctx context.Context, w wanted, dry bool) (out Published, err error) {
	renewal := 0
	for n := range publishTries {
		out, err = s.publishPrice(ctx, w, dry, renewal)
		if err == nil || !billing.IsTemporary(err) || n == publishTries-1 {
			break
		}
		if billing.IsStored(err) {
			renewal++ // Stripe repeats this response to the key for a day
		}
		if waited := s.sleepFor(ctx, min(max(billing.RetryAfter(err), publishFirst<<n), publishMost)); waited != nil {
			break
		}
	}

	return out, err
}

// pricesForSale returns every price for sale. The year's price is the catalogue's, with its discount.
func (s *Service) pricesForSale() (all []wanted) {
	for i := range s.Catalogue.Plans {
		p := &s.Catalogue.Plans[i]
		if !p.Selectable() {
			continue
		}

		price := func(kind, interval, product, name string, amount int64) {
			of := billing.Sold{Kind: kind, Plan: p.Key, Interval: interval}
			all = append(all, wanted{of, product, name, amount})
		}

		price(billing.BasePrice, "month", p.Key, p.Name, p.Month)
		price(billing.BasePrice, "year", p.Key, p.Name, p.Year)
		if p.AllowOverage {
			product := p.Key + "_client_org"
			name := p.Name + ", further client org"
			price(billing.OveragePrice, "month", product, name, p.OverageMonth)
			price(billing.OveragePrice, "year", product, name, p.OverageYear)
		}
	}

	return all
}

func (s *Service) publishPrice(ctx context.Context, w wanted, dry bool, renewal int) (Published, error) {
	out := Published{Name: w.lookupKey(), Done: "made", Amount: w.amount, Currency: s.Catalogue.Currency}
	before := ""
	now, err := s.findPrice(ctx, w)
	if err != nil {
		return out, err
	}
	if now != nil && now.UnitAmount == w.amount && strings.EqualFold(string(now.Currency), s.Catalogue.Currency) {
		out.Done = "kept"
		out.ID = now.ID
	} else {
		if now != nil {
			out.Done = "renewed"
			before = now.ID
		}
		if dry {
			return out, nil
		}
		if now, err = s.makePrice(ctx, w, before, renewal); err != nil {
			return out, err
		}

		out.ID = now.ID
	}

	if dry {
		return out, nil
	}

	return out, s.storePrice(ctx, w, now)
}

// findPrice returns the price that Stripe has for the lookup key, or nil.
func (s *Service) findPrice(ctx context.Context, w wanted) (*stripe.Price, error) {
	p := &stripe.PriceListParams{LookupKeys: []*string{stripe.String(w.lookupKey())}, Active: stripe.Bool(true)}
	p.Context = ctx
	p.Single = true
	it := s.Stripe.Prices.List(p)
	var found *stripe.Price
	for it.Next() {
		found = it.Price()
	}

	_, err := billing.FromStripe(struct{}{}, it.Err())

	return found, err
}

// makePrice creates a price that replaces before, and its product if there is none. The idempotency keys are derived
// from the parameters, so concurrent calls create one price. A renewal above 0 changes the keys.
func (s *Service) makePrice(ctx context.Context, w wanted, before string, renewal int) (*stripe.Price, error) {
	product := "funnelwork_" + w.product
	_, err := billing.FromStripe(s.Stripe.Products.Get(product, &stripe.ProductParams{Params: billing.Params(ctx, "")}))
	if err != nil && billing.Classify(err) == billing.NotFound {
		_, err = billing.FromStripe(s.Stripe.Products.New(&stripe.ProductParams{
			Params: billing.Params(ctx, idempotencyKey("product", renewedParts(renewal, product, w.name)...)),
			ID:     &product, Name: &w.name, Metadata: map[string]string{"plan": w.Plan},
		}))
		if err != nil && billing.Classify(err) == billing.Rejected { // created concurrently
			_, err = billing.FromStripe(s.Stripe.Products.Get(product,
				&stripe.ProductParams{Params: billing.Params(ctx, "")}))
		}
	}
	if err != nil {
		return nil, err
	}

	return billing.FromStripe(s.Stripe.Prices.New(&stripe.PriceParams{
		Params: billing.Params(ctx,
			idempotencyKey("price",
				renewedParts(renewal, w.lookupKey(), strconv.FormatInt(w.amount, 10), s.Catalogue.Currency,
					before)...)),
		Product:   &product,
		Currency:  stripe.String(strings.ToLower(s.Catalogue.Currency)), // Stripe uses lower case
		LookupKey: stripe.String(w.lookupKey()), TransferLookupKey: stripe.Bool(true),
		UnitAmount: &w.amount,
		Recurring:  &stripe.PriceRecurringParams{Interval: stripe.String(w.Interval)},
		Metadata:   map[string]string{"plan": w.Plan, "kind": w.Kind},
	}))
}

// renewedParts returns the parts of a key that replaces one with an error as its stored response.
func renewedParts(renewal int, parts ...string) []string {
	if renewal > 0 {
		parts = append(parts, strconv.Itoa(renewal))
	}
	return parts
}

// idempotencyKey returns an idempotency key derived from the request's parameters.
func idempotencyKey(of string, parts ...string) string {
	h := sha256.New()
	for _, p := range append([]string{of}, parts...) {
		_, _ = fmt.Fprintf(h, "%d %s ", len(p), p)
	}
	return of + ":" + hex.EncodeToString(h.Sum(nil)[:16])
}

// storePrice stores a price as the one for sale.
func (s *Service) storePrice(ctx context.Context, w wanted, p *stripe.Price) error {
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE billing_price SET replaced = true WHERE plan = $1 AND "interval" = $2 AND kind = $3
			AND stripe_id <> $4 AND NOT replaced`, w.Plan, w.Interval, w.Kind, p.ID)
		tx.Queue(`INSERT INTO billing_price (stripe_id, kind, plan, "interval", amount, currency)
			VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (stripe_id) DO UPDATE SET replaced = false, amount = excluded.amount, synced_at = now()`,
			p.ID, w.Kind, w.Plan, w.Interval, p.UnitAmount, strings.ToUpper(string(p.Currency)))
		return nil
	})
}
