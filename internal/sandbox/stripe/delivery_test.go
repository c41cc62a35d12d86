package stripe_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
)

// receiver receives webhooks without a network.
type receiver struct {
	t       *testing.T
	secrets map[string]string // by URL
	mu      sync.Mutex
	refuse  int // number of responses with status 500
	got     []api.Event
	at      []time.Time
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if r.refuse > 0 {
		r.refuse--
		status = http.StatusInternalServerError
	} else {
		e, err := webhook.ConstructEvent(body, req.Header.Get("Stripe-Signature"), r.secrets[req.URL.String()])
		if err != nil {
			r.t.Errorf("%s: %v", req.URL, err)
		}
		r.got, r.at = append(r.got, e), append(r.at, time.Now())
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
}

func (r *receiver) types() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.got {
		all = append(all, string(e.Type))
	}
	return all
}

const (
	ownURL     = "http://127.0.0.1:8080/billing/stripe/webhook"
	connectURL = "http://127.0.0.1:8080/billing/stripe/connect-webhook"
)

// delivering returns a world with Run delivering webhooks to a receiver, in a synctest bubble.
func delivering(t *testing.T) (*world, *receiver) {
	r := &receiver{t: t, secrets: map[string]string{}}
	s := stripe.New(stripe.Options{Store: stripememory.New(), Deliver: r})
	w := &world{T: t, s: s, sc: clientOf(s.Transport(), "https://api.stripe.com")}
	for url, connect := range map[string]bool{ownURL: false, connectURL: true} {
		r.secrets[url] = must(s.Ensure(t.Context(), url, connect))(t)
		if again := must(s.Ensure(t.Context(), url, connect))(t); again != r.secrets[url] {
			t.Error("another process gets another secret")
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return w, r
}

func TestWebhooksArriveSignedAndInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, r := delivering(t)
		w.subscribe(w.customer().ID, w.price(2000, "month"))
		sleep(t, 3*time.Second)
		if got, want := r.types(), w.events(); !slices.Equal(got, want) || len(got) < 8 {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestARefusedWebhookComesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, r := delivering(t)
		r.refuse = 2
		w.price(2000, "month") // two events
		sleep(t, 3*time.Second)
		if len(r.types()) != 0 {
			t.Errorf("%v", r.types())
		}
		if n := undelivered(w); n != 2 {
			t.Errorf("%d events count as undelivered", n)
		}
		sleep(t, 10*time.Second)
		if got := r.types(); len(got) != 2 || undelivered(w) != 0 {
			t.Errorf("%v, %d undelivered", got, undelivered(w))
		}
	})
}

func undelivered(w *world) (n int) {
	w.Helper()
	it := w.sc.Events.List(&api.EventListParams{DeliverySuccess: api.Bool(false)})
	for it.Next() {
		n++
	}
	return n
}

func TestWebhooksAreLostDoubledDelayedAndShuffled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mangle stripe.Mangle
		check  func(t *testing.T, sent, got []string, first time.Duration)
	}{
		"lost": {stripe.Mangle{Drop: 100}, func(t *testing.T, sent, got []string, _ time.Duration) {
			if len(got) != 0 {
				t.Errorf("%v", got)
			}
		}},
		"doubled": {stripe.Mangle{Duplicate: 100}, func(t *testing.T, sent, got []string, _ time.Duration) {
			if len(got) != 2*len(sent) {
				t.Errorf("%d of %d", len(got), len(sent))
			}
		}},
		"delayed": {stripe.Mangle{Delay: 60}, func(t *testing.T, sent, got []string, first time.Duration) {
			if !slices.Equal(sent, got) || first < time.Minute {
				t.Errorf("%v after %s", got, first)
			}
		}},
		"shuffled": {stripe.Mangle{Reorder: true}, func(t *testing.T, sent, got []string, _ time.Duration) {
			if slices.Equal(sent, got) {
				t.Error("in order")
			}
			slices.Sort(sent)
			slices.Sort(got)
			if !slices.Equal(sent, got) {
				t.Errorf("%v, want %v", got, sent)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, r := delivering(t)
				if err := w.s.SetMangle(t.Context(), c.mangle); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				price, cus := w.price(2000, "month"), w.customer()
				for range 4 {
					w.subscribe(cus.ID, price)
				}
				sleep(t, 2*time.Minute)
				first := time.Duration(0)
				if len(r.at) > 0 {
					first = r.at[0].Sub(begun)
				}
				c.check(t, w.events(), r.types(), first)
			})
		})
	}
}

func TestATestMayDeliverByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := must(w.s.Ensure(t.Context(), ownURL, false))(t)
	w.price(2000, "month")
	out := must(w.s.Outbox(t.Context(), 100))(t)
	if len(out) != 2 {
		t.Fatalf("%d events, want 2: %+v", len(out), out)
	}
	if one, two := out[0].Type, out[1].Type; one != "product.created" || two != "price.created" {
		t.Fatalf("events %s, %s; want product.created, price.created", one, two)
	}
	if _, err := webhook.ConstructEvent(out[0].Body, out[0].Header.Get("Stripe-Signature"), secret); err != nil {
		t.Error(err)
	}
	if again := must(w.s.Outbox(t.Context(), 100))(t); len(again) != 0 {
		t.Error("two take the same delivery")
	}
	for _, o := range out {
		if err := w.s.Sent(t.Context(), o, http.StatusOK, ""); err != nil {
			t.Fatal(err)
		}
	}
	if undelivered(w) != 0 {
		t.Error("they count as undelivered")
	}
}

func TestEventsOfAccountsGoToTheConnectEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(w.s.Ensure(t.Context(), ownURL, false))(t)
	must(w.s.Ensure(t.Context(), connectURL, true))(t)
	a := must(w.sc.Accounts.New(&api.AccountParams{Type: api.String("standard")}))(t)
	p := &api.CustomerParams{}
	p.SetStripeAccount(a.ID)
	must(w.sc.Customers.New(p))(t)
	for _, o := range must(w.s.Outbox(t.Context(), 100))(t) {
		var e api.Event
		if err := json.Unmarshal(o.Body, &e); err != nil {
			t.Fatal(err)
		}
		if o.URL != connectURL || e.Account != a.ID {
			t.Errorf("%s to %s, account %q", e.Type, o.URL, e.Account)
		}
	}
	w.customer()
	for _, o := range must(w.s.Outbox(t.Context(), 100))(t) {
		if o.URL != ownURL || strings.Contains(string(o.Body), `"account"`) {
			t.Errorf("%s to %s", o.Type, o.URL)
		}
	}
}

// sleep advances a bubble's time.
func sleep(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	synctest.Wait()
}
