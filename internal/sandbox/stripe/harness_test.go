package stripe_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
)

// epoch is the sandbox's time in tests: the start of a month of 30 days.
var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// world is a sandbox with a stripe-go client.
type world struct {
	*testing.T
	s  *stripe.Sandbox
	sc *client.API
}

// newWorld returns a world in memory, with a clock that only Advance moves.
func newWorld(t *testing.T) *world { return worldOn(t, stripememory.New()) }

func worldOn(t *testing.T, store stripe.Store) *world {
	t.Helper()
	s := stripe.New(stripe.Options{Store: store, Log: testkit.Log(t), Now: func() time.Time { return epoch }})
	t.Cleanup(s.Close)
	return &world{T: t, s: s, sc: clientOf(s.Transport(), "https://api.stripe.com")}
}

type clientAPI = client.API

// clientOf returns a client without retries, so that tests see each response.
func clientOf(way http.RoundTripper, url string) *client.API {
	backend := api.GetBackendWithConfig(api.APIBackend, &api.BackendConfig{
		HTTPClient: &http.Client{Transport: way}, MaxNetworkRetries: api.Int64(0), URL: api.String(url),
		LeveledLogger: &api.LeveledLogger{Level: api.LevelNull},
	})
	return client.New("sk_test_123", &api.Backends{API: backend, Connect: backend, Uploads: backend})
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// failed returns the API's error and fails the test if there is none.
func failed[T any](_ T, err error) func(testing.TB) *api.Error {
	return func(t testing.TB) *api.Error {
		t.Helper()
		var e *api.Error
		if !errors.As(err, &e) {
			t.Fatalf("got %v, want an API error", err)
		}
		return e
	}
}

func (w *world) price(unit int64, interval string) *api.Price {
	w.Helper()
	p := &api.PriceParams{
		Currency: api.String("usd"), UnitAmount: api.Int64(unit),
		ProductData: &api.PriceProductDataParams{Name: api.String("Plan")},
		Recurring:   &api.PriceRecurringParams{Interval: api.String(interval)},
	}
	return must(w.sc.Prices.New(p))(w)
}

func (w *world) customer() *api.Customer {
	w.Helper()
	return must(w.sc.Customers.New(&api.CustomerParams{Email: api.String("bob@example.com")}))(w)
}

// subscribe creates a subscription and pays its first invoice.
func (w *world) subscribe(cus string, price *api.Price) *api.Subscription {
	w.Helper()
	p := &api.SubscriptionParams{
		Customer: api.String(cus),
		Items:    []*api.SubscriptionItemsParams{{Price: api.String(price.ID)}},
	}
	s := must(w.sc.Subscriptions.New(p))(w)
	if s.Status != api.SubscriptionStatusActive {
		w.Fatalf("the subscription is %s", s.Status)
	}
	return s
}

func (w *world) sub(id string) *api.Subscription {
	w.Helper()
	p := &api.SubscriptionParams{}
	p.AddExpand("latest_invoice.payment_intent")
	return must(w.sc.Subscriptions.Get(id, p))(w)
}

// swap returns the change that billing makes: one item with another price, applied only once it is paid.
func swap(s *api.Subscription, to *api.Price) *api.SubscriptionParams {
	p := &api.SubscriptionParams{
		Items: []*api.SubscriptionItemsParams{{
			ID:    api.String(s.Items.Data[0].ID),
			Price: api.String(to.ID), Quantity: api.Int64(1),
		}},
		ProrationBehavior: api.String("always_invoice"), PaymentBehavior: api.String("pending_if_incomplete"),
	}
	p.AddExpand("latest_invoice.payment_intent")
	return p
}

// preview returns the invoice that swap would charge.
func (w *world) preview(s *api.Subscription, to *api.Price) *api.Invoice {
	w.Helper()
	return must(w.sc.Invoices.Upcoming(&api.InvoiceUpcomingParams{
		Customer: api.String(s.Customer.ID), Subscription: api.String(s.ID),
		SubscriptionProrationBehavior: api.String("always_invoice"),
		SubscriptionItems: []*api.SubscriptionItemsParams{{
			ID:    api.String(s.Items.Data[0].ID),
			Price: api.String(to.ID), Quantity: api.Int64(1),
		}},
	}))(w)
}

func (w *world) advance(by time.Duration) {
	w.Helper()
	if err := w.s.Advance(w.Context(), by); err != nil {
		w.Fatal(err)
	}
}

func (w *world) card(cus string, c stripe.Conduct) {
	w.Helper()
	if err := w.s.SetCard(w.Context(), cus, c); err != nil {
		w.Fatal(err)
	}
}

// events returns the types of all events, the oldest first.
func (w *world) events() []string {
	w.Helper()
	var types []string
	it := w.sc.Events.List(&api.EventListParams{})
	for it.Next() {
		types = append(types, string(it.Event().Type))
	}
	if it.Err() != nil {
		w.Fatal(it.Err())
	}
	slices.Reverse(types)
	return types
}

// paid returns the sum of the charges to a customer's cards.
func (w *world) paid(cus string) (sum int64) {
	w.Helper()
	for _, m := range must(w.s.Ledger(w.Context(), "", cus))(w) {
		sum += m.Amount
	}
	return sum
}
