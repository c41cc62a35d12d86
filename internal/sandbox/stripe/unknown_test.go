package stripe_test

import (
	"net/http"
	"testing"

	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

func TestWhatTheSandboxDoesNotKnowIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, e := range map[string]*api.Error{
		"a missing object": failed(w.sc.Subscriptions.Get("sub_none", nil))(t),
		"a missing price": failed(
			w.sc.Subscriptions.New(&api.SubscriptionParams{
				Customer: api.String(w.customer().ID),
				Items:    []*api.SubscriptionItemsParams{{Price: api.String("price_none")}},
			}))(t),
		"an unknown parameter": failed(w.sc.Customers.New(&api.CustomerParams{Coupon: api.String("x")}))(t),
		"a bad value": failed(w.sc.Prices.New(&api.PriceParams{
			Currency:   api.String("usd"),
			UnitAmount: api.Int64(1), ProductData: &api.PriceProductDataParams{Name: api.String("x")},
			Recurring: &api.PriceRecurringParams{Interval: api.String("eon")},
		}))(t),
		"a bad expansion": failed(w.sc.Customers.New(func() *api.CustomerParams {
			p := &api.CustomerParams{}
			p.AddExpand("shoe_size")
			return p
		}()))(t),
	} {
		if e.Type != api.ErrorTypeInvalidRequest {
			t.Errorf("%s: type %s, want %s", name, e.Type, api.ErrorTypeInvalidRequest)
		}
		if e.HTTPStatusCode != 400 && e.HTTPStatusCode != 404 {
			t.Errorf("%s: status %d, want 400 or 404", name, e.HTTPStatusCode)
		}
		if e.Msg == "" || e.RequestID == "" {
			t.Errorf("%s: message %q of request %q, want both", name, e.Msg, e.RequestID)
		}
	}
	for name, c := range map[string]struct {
		key, version string
		want         int
	}{
		"no key": {"", stripe.Version, 401}, "a live key": {"sk_live_1", stripe.Version, 401},
		"another version": {"sk_test_1", "2024-04-10", 400}, "a test key": {"sk_test_1", "", 200},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.stripe.com/v1/customers", nil)
		r.Header.Set("Authorization", "Bearer "+c.key)
		if c.version != "" {
			r.Header.Set("Stripe-Version", c.version)
		}
		res, err := w.s.Transport().RoundTrip(r)
		if err != nil || res.StatusCode != c.want {
			t.Errorf("%s: %v, %v", name, res, err)
		}
		_ = res.Body.Close()
	}
}
