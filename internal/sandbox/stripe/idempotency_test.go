package stripe_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func keyed(key, name string) *api.CustomerParams {
	p := &api.CustomerParams{Name: api.String(name)}
	p.SetIdempotencyKey(key)
	return p
}

func (w *world) customers() int {
	w.Helper()
	n := 0
	it := w.sc.Customers.List(&api.CustomerListParams{})
	for it.Next() {
		n++
	}
	if it.Err() != nil {
		w.Fatal(it.Err())
	}
	return n
}

func TestAKeyAnswersTheSameForADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := must(w.sc.Customers.New(keyed("k", "one")))(t)
	again := must(w.sc.Customers.New(keyed("k", "one")))(t)
	if again.ID != first.ID {
		t.Errorf("%s, then %s", first.ID, again.ID)
	}
	const replayed = "Idempotent-Replayed"
	if one, two := first.LastResponse.Header.Get(replayed), again.LastResponse.Header.Get(replayed); one != "" ||
		two != "true" {
		t.Errorf("%s: %q, then %q; want none, then true", replayed, one, two)
	}
	if e := failed(w.sc.Customers.New(keyed("k", "two")))(t); e.Type != api.ErrorTypeIdempotency ||
		e.HTTPStatusCode != 400 {
		t.Errorf("other parameters: %+v", e)
	}
	w.advance(24*time.Hour - time.Second)
	if got := must(w.sc.Customers.New(keyed("k", "one")))(t); got.ID != first.ID {
		t.Error("the key was forgotten too early")
	}
	w.advance(time.Second)
	if got := must(w.sc.Customers.New(keyed("k", "two")))(t); got.ID == first.ID || w.customers() != 2 {
		t.Error("the key was not forgotten")
	}
}

func TestAKeyKeepsWhatExecutionCameToAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus, price := w.customer(), w.price(2000, "month")
	begin := func(key, id string) (*api.Subscription, error) {
		p := &api.SubscriptionParams{
			Customer: api.String(cus.ID), PaymentBehavior: api.String("error_if_incomplete"),
			Items: []*api.SubscriptionItemsParams{{Price: api.String(id)}},
		}
		p.SetIdempotencyKey(key)
		return w.sc.Subscriptions.New(p)
	}
	w.card(cus.ID, stripe.Decline)
	want := &api.Error{
		Type: api.ErrorTypeCard, Code: api.ErrorCodeCardDeclined, DeclineCode: "generic_decline", HTTPStatusCode: 402,
	}
	e := failed(begin("declined", price.ID))(t)
	got := &api.Error{Type: e.Type, Code: e.Code, DeclineCode: e.DeclineCode, HTTPStatusCode: e.HTTPStatusCode}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(api.Error{}, api.APIResource{})); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if n := len(must(listed(w, cus.ID))(t)); n != 0 {
		t.Errorf("error_if_incomplete left %d subscriptions", n)
	}
	w.card(cus.ID, stripe.Works)
	if e := failed(begin("declined", price.ID))(t); e.Code != api.ErrorCodeCardDeclined {
		t.Errorf("the replay: %+v", e)
	}
	inactive := must(w.sc.Prices.Update(w.price(1, "month").ID, &api.PriceParams{Active: api.Bool(false)}))(t)
	if e := failed(begin("refused", inactive.ID))(t); e.HTTPStatusCode != 400 {
		t.Errorf("%+v", e)
	}
	must(begin("refused", price.ID))(t) // a refusal of parameters is not stored
	w.s.Break(stripe.Fault{Kind: stripe.Internal, Path: "/v1/customers"})
	for range 2 {
		if e := failed(w.sc.Customers.New(keyed("internal", "x")))(t); e.HTTPStatusCode != 500 ||
			e.Type != api.ErrorTypeAPI {
			t.Errorf("%+v", e)
		}
	}
	if n := w.customers(); n != 1 {
		t.Errorf("%d customers", n)
	}
	w.s.Break(stripe.Fault{Kind: stripe.ActedError, Path: "/v1/customers"})
	for range 2 {
		if e := failed(w.sc.Customers.New(keyed("acted", "x")))(t); e.HTTPStatusCode != 500 {
			t.Errorf("%+v", e)
		}
	}
	if n := w.customers(); n != 2 {
		t.Errorf("%d customers after one that was made and told as an error", n)
	}
}

func listed(w *world, cus string) (all []*api.Subscription, err error) {
	it := w.sc.Subscriptions.List(&api.SubscriptionListParams{Customer: api.String(cus), Status: api.String("all")})
	for it.Next() {
		all = append(all, it.Subscription())
	}
	return all, it.Err()
}

func TestATwinInFlightIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun, proceed := make(chan struct{}), make(chan struct{})
	w.s.Break(stripe.Fault{Kind: stripe.Slow, Path: "/v1/customers", Struck: func() {
		close(begun)
		<-proceed
	}})
	made := make(chan error)
	go func() {
		_, err := w.sc.Customers.New(keyed("k", "one"))
		made <- err
	}()
	<-begun
	if e := failed(w.sc.Customers.New(keyed("k", "one")))(t); e.HTTPStatusCode != 409 ||
		e.Code != api.ErrorCodeIdempotencyKeyInUse {
		t.Errorf("%+v", e)
	}
	close(proceed)
	if err := <-made; err != nil {
		t.Error(err)
	}
	must(w.sc.Customers.New(keyed("k", "one")))(t)
	if n := w.customers(); n != 1 {
		t.Errorf("%d customers", n)
	}
}

func TestManyTwinsOfTwoProcessesMakeOneObject(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	a, b := worldOn(t, stripe.Postgres{System: db.System}), worldOn(t, stripe.Postgres{System: db.System})
	var done sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	for i := range 12 {
		w := []*world{a, b}[i%2]
		done.Go(func() {
			c, err := w.sc.Customers.New(keyed("k", "one"))
			var e *api.Error
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				ids[c.ID]++
			case !errors.As(err, &e) || e.Code != api.ErrorCodeIdempotencyKeyInUse:
				t.Error(err)
			}
		})
	}
	done.Wait()
	if len(ids) != 1 || a.customers() != 1 {
		t.Errorf("%v, %d customers", ids, a.customers())
	}
	c := worldOn(t, stripe.Postgres{System: db.System}) // a restart
	if n := c.customers(); n != 1 {
		t.Errorf("a restart finds %d customers", n)
	}
}

func TestFaultsStrikeBeforeOrAfterActing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   stripe.FaultKind
		status int
		code   api.ErrorCode
		acted  bool
	}{
		{stripe.RateLimited, 429, api.ErrorCodeRateLimit, false},
		{stripe.LockTimeout, 429, api.ErrorCodeLockTimeout, false},
		{stripe.InUse, 409, api.ErrorCodeIdempotencyKeyInUse, false},
		{stripe.Internal, 500, "", false},
		{stripe.ActedError, 500, "", true},
		{stripe.CutBefore, 0, "", false},
		{stripe.CutAfter, 0, "", true},
		{stripe.Slow, 200, "", true},
		{stripe.SlowAnswer, 200, "", true},
	} {
		w := newWorld(t)
		server := httptest.NewServer(w.s)
		for name, sc := range map[string]*clientAPI{
			"in process":     w.sc,
			"over a network": clientOf(&http.Transport{DisableKeepAlives: true}, server.URL),
		} {
			var struck atomic.Int64
			before := w.customers()
			w.s.Break(stripe.Fault{
				Kind: c.kind, Method: "POST", Path: "/v1/customers", Skip: 1,
				Delay: time.Millisecond, Struck: func() { struck.Add(1) },
			})
			must(sc.Customers.New(keyed(name+"-skipped", "x")))(t)
			_, err := sc.Customers.New(keyed(name, "x"))
			var e *api.Error
			switch {
			case c.status == 200 && err != nil, c.status == 0 && (err == nil || errors.As(err, &e)):
				t.Errorf("%s %s: %v", c.kind, name, err)
			case c.status > 200 && (!errors.As(err, &e) || e.HTTPStatusCode != c.status || e.Code != c.code):
				t.Errorf("%s %s: %v", c.kind, name, err)
			}
			if acted := w.customers()-before == 2; acted != c.acted || struck.Load() != 1 {
				t.Errorf("%s %s: acted %t, struck %d", c.kind, name, acted, struck.Load())
			}
			got, err := sc.Customers.New(keyed(name, "x")) // again with the same key
			if c.status != 500 && err != nil {
				t.Errorf("%s %s: the next try: %v, %v", c.kind, name, got, err)
			}
			if n := w.customers() - before; n != 2 && c.kind != stripe.Internal {
				t.Errorf("%s %s: %d customers after the next try, want 2", c.kind, name, n)
			}
			w.s.Mend()
		}
		server.Close()
	}
}

func TestAKeyIsNoLongerThan255Characters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(w.sc.Customers.New(keyed(strings.Repeat("k", 255), "x")))(t)
}
