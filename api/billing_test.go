package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// published starts an API with prices published to Stripe.
func published(t testing.TB) *service {
	t.Helper()
	s := start(t, unlimited)
	if _, err := s.sync().Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return s
}

type changed struct {
	ID           *string
	Status       string
	Plan         string
	Interval     string
	AmountDue    int64 `json:"amount_due"`
	Currency     string
	EffectiveAt  time.Time `json:"effective_at"`
	ClientSecret string    `json:"client_secret"`
	PreviewID    string    `json:"preview_id"`
}

func (got answer) change(t testing.TB, status int, word string) (c changed) {
	t.Helper()
	got.want(t, status, "")
	got.into(t, &c)
	if c.Status != word {
		t.Fatalf("came to %q, want %q: %s", c.Status, word, got.Body)
	}
	return c
}

func plan(key, interval string) map[string]any {
	return map[string]any{"plan": key, "interval": interval}
}

// stripeCustomer returns the org's customer id at Stripe.
func (c *caller) stripeCustomer() (cus string) {
	c.Helper()
	if err := testkit.Pgx(c, c.DB.URL).QueryRow(c.Context(),
		"SELECT stripe_id FROM billing_customer WHERE org_id = $1", c.Org).Scan(&cus); err != nil {
		c.Fatal(err)
	}
	return cus
}

// charges returns the amounts that the org has paid, per charge.
func (c *caller) charges() (amounts []int64) {
	c.Helper()
	all, err := c.Stripe.Ledger(c.Context(), "", c.stripeCustomer())
	if err != nil {
		c.Fatal(err)
	}
	for _, m := range all {
		if m.Kind == "charge" {
			amounts = append(amounts, m.Amount)
		}
	}
	return amounts
}

func TestAPlanIsPreviewedChangedAndRead(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup()
	var shown changed
	c.do("POST", "/billing/change-plan/preview", plan("solo_pro", "month")).want(t, 200, "").into(t, &shown)
	body := plan("solo_pro", "month")
	body["preview_id"] = shown.PreviewID
	first := c.do("POST", "/billing/change-plan", body).change(t, 200, "applied")
	want := first
	want.AmountDue, want.Currency, want.Plan = shown.AmountDue, "USD", "solo_pro"
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the change (-want +got):\n%s", diff)
	}
	if shown.Currency != "USD" {
		t.Errorf("the preview is in %s, want USD", shown.Currency)
	}
	if again := c.do("POST", "/billing/change-plan", plan("solo_pro", "month")).
		change(t, 200, "unchanged"); again.ID != nil {
		t.Error("nothing to do made a change")
	}
	c.do("POST", "/billing/change-plan", body).change(t, 200, "unchanged")
	body["plan"] = "agency_growth"
	c.do("POST", "/billing/change-plan", body).want(t, 409, "preview_stale")
	c.do("POST", "/billing/change-plan", plan("white_label_enterprise", "year")).want(t, 409, "contact_sales")
	if got := c.do("POST", "/billing/change-plan", plan("trial", "month")).
		want(t, 422, "validation_failed"); got.field() != "#/plan unknown_plan" {
		t.Error(got.field())
	}
	c.do("POST", "/billing/change-plan", plan("solo_pro", "week")).want(t, 422, "validation_failed")

	down := c.do("POST", "/billing/change-plan", plan("solo_starter", "month")).change(t, 200, "scheduled")
	c.do("POST", "/billing/changes/"+*first.ID+"/undo", nil).want(t, 409, "conflict")
	c.do("POST", "/billing/changes/"+*down.ID+"/undo", nil).change(t, 200, "undone")
	c.do("POST", "/billing/cancel", nil).change(t, 200, "scheduled")
	c.do("POST", "/billing/resume", nil).change(t, 200, "undone")
	c.do("POST", "/billing/resume", nil).change(t, 200, "unchanged")
	if got := c.do("POST", "/billing/portal", nil).want(t, 200, ""); !strings.Contains(string(got.Body), `"url":"`) {
		t.Error(string(got.Body))
	}

	var timeline struct {
		Status   string
		Kind     string
		Timeline []struct{ Event string }
	}
	c.do("GET", "/billing/changes/"+*first.ID, nil).want(t, 200, "").into(t, &timeline)
	applied := timeline
	applied.Kind, applied.Timeline = "start", []struct{ Event string }{{"requested"}, {"applied"}}
	if diff := cmp.Diff(applied, timeline); diff != "" {
		t.Errorf("the change (-want +got):\n%s", diff)
	}
	c.do("GET", "/billing/changes/"+id.New().String(), nil).want(t, 404, "not_found")
	s.signup().do("GET", "/billing/changes/"+*first.ID, nil).want(t, 404, "not_found")
	c.as(auth.Admin).do("POST", "/billing/change-plan", plan("solo_pro", "year")).want(t, 403, "forbidden")
	c.as(auth.Viewer).do("GET", "/billing/subscription", nil).want(t, 200, "")
	var log struct {
		Data []struct{ Action string }
	}
	c.do("GET", "/api/v1/audit-log", nil).want(t, 200, "").into(t, &log)
	seen := map[string]int{}
	for _, act := range log.Data {
		seen[act.Action]++
	}
	for action, n := range map[string]int{"plan.change_requested": 3, "plan.changed": 1, "plan.change_undone": 2} {
		if seen[action] != n {
			t.Errorf("%d entries %s in the audit log, want %d: %v", seen[action], action, n, seen)
		}
	}
}

func TestADeclineIs402AndAnActionIs202(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup()
	c.do("POST", "/billing/change-plan", plan("solo_starter", "month")).change(t, 200, "applied")
	set := func(to stripe.Conduct) {
		if err := s.Stripe.SetCard(t.Context(), c.stripeCustomer(), to); err != nil {
			t.Fatal(err)
		}
	}
	set(stripe.Decline)
	for range 2 { // nothing was done, so the key may be reused
		c.do("POST", "/billing/change-plan", plan("solo_pro", "month"), "Idempotency-Key", "declined").
			want(t, 402, "payment_declined")
	}
	set(stripe.ThreeDS)
	first := c.do("POST", "/billing/change-plan", plan("solo_pro", "month"), "Idempotency-Key", "confirm").
		change(t, 202, "action_required")
	again := c.do("POST", "/billing/change-plan", plan("solo_pro", "month"), "Idempotency-Key", "confirm")
	got := again.change(t, 202, "action_required")
	if first.ClientSecret == "" || got.ClientSecret != first.ClientSecret {
		t.Errorf("client secret %q, then %q; want the same", first.ClientSecret, got.ClientSecret)
	}
	if replayed := again.Header.Get("Idempotent-Replayed"); replayed != "true" {
		t.Errorf("Idempotent-Replayed %q, want true", replayed)
	}
	if got := c.do("POST", "/billing/change-plan", plan("solo_pro", "month")).
		change(t, 202, "action_required"); got.ClientSecret != first.ClientSecret {
		t.Error("asked again without a key, it is another change")
	}
	if n := s.count("idempotency_key WHERE position($1::bytea IN answer) > 0", []byte(first.ClientSecret)); n != 0 {
		t.Error("the client secret is kept as it is")
	}
	if n := len(c.charges()); n != 1 {
		t.Errorf("%d charges before anything was confirmed", n-1)
	}
}

func TestAwayIs503AndTheChangeGoesOn(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup()
	c.do("POST", "/billing/change-plan", plan("solo_starter", "month")).change(t, 200, "applied")
	s.Stripe.Break(stripe.Fault{Kind: stripe.CutAfter, Method: http.MethodPost, Path: "/v1/subscriptions/", Times: 1})
	s.Stripe.Break(stripe.Fault{Kind: stripe.CutBefore, Method: http.MethodPost, Path: "/v1/subscriptions/", Times: -1})
	got := c.do("POST", "/billing/change-plan", plan("solo_pro", "month"), "Idempotency-Key", "away").
		want(t, 503, "unavailable")
	if got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	c.do("POST", "/billing/change-plan", plan("solo_pro", "month"), "Idempotency-Key", "away").
		want(t, 409, "idempotency_in_flight")
	c.do("POST", "/billing/change-plan", plan("solo_pro", "month")).want(t, 409, "change_in_flight")
	s.Stripe.Mend()
	var open id.ID
	conn := testkit.Pgx(t, s.DB.URL)
	if err := conn.QueryRow(t.Context(), "SELECT id FROM plan_change WHERE org_id = $1 AND state = 'in_flight'",
		c.Org).Scan(&open); err != nil {
		t.Fatal(err)
	}
	if n := s.count("job WHERE org_id = $1 AND kind = 'billing.settle' AND args->>'change' = $2 AND run_at < now() "+
		"+ interval '25 s'", c.Org, open.String()); n != 1 {
		t.Errorf("%d jobs look after the change", n)
	}
	if err := change.New(s.Deps.Billing).Recover(t.Context(), c.Org, open); err != nil {
		t.Fatal(err)
	}
	after := c.do("POST", "/billing/change-plan", plan("solo_pro", "month"), "Idempotency-Key", "away")
	if got := after.change(t, 200, "applied"); *got.ID != open.String() ||
		after.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %v", after.Body, after.Header)
	}
	c.do("POST", "/billing/change-plan", plan("agency_growth", "month"), "Idempotency-Key", "away").
		want(t, 422, "idempotency_mismatch")
	if n := len(c.charges()); n != 2 {
		t.Errorf("%d charges, want 2", n)
	}
}

func TestTwinsAreOneChangeAndOneCharge(t *testing.T) {
	t.Parallel()
	for name, key := range map[string][]string{"with one key": {"Idempotency-Key", "twins"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := published(t)
			c := s.signup()
			c.do("POST", "/billing/change-plan", plan("solo_starter", "month")).change(t, 200, "applied")
			var wg sync.WaitGroup
			answers := make([]answer, 12)
			for i := range answers {
				wg.Go(func() {
					got, err := c.try("POST", "/billing/change-plan", plan("agency_growth", "month"), key...)
					if err != nil {
						t.Errorf("request: %v", err)
					}
					answers[i] = got
				})
			}
			wg.Wait()
			applied := map[string]bool{}
			for _, got := range answers {
				var one changed
				if got.Status == 200 {
					got.into(t, &one)
				}
				switch {
				case got.Status == 200 && one.Status == "applied":
					applied[*one.ID] = true
				case got.Status == 200 && one.Status == "unchanged" && key == nil:
				case got.Status == 409 && (got.code() == "change_in_flight" || got.code() == "idempotency_in_flight"):
				default:
					t.Errorf("%d %s", got.Status, got.Body)
				}
			}
			if len(applied) != 1 {
				t.Errorf("%d changes were applied, want 1", len(applied))
			}
			if charges := c.charges(); len(charges) != 2 {
				t.Errorf("charges %v, want 2", charges)
			}
			if n := s.count("plan_change WHERE org_id = $1", c.Org); n != 2 {
				t.Errorf("%d rows of changes, want 2", n)
			}
		})
	}
}

// event posts an event like Stripe and returns the status.
func (s *service) event(body []byte, signature string) int {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.URL+"/billing/stripe/webhook",
		bytes.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Stripe-Signature", signature)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestEventsComeInByTheFrontDoor(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup()
	c.do("POST", "/billing/change-plan", plan("solo_pro", "month")).change(t, 200, "applied")
	out, err := s.Stripe.Outbox(context.WithoutCancel(t.Context()), 100)
	if err != nil || len(out) == 0 {
		t.Fatal(err)
	}
	for range 2 {
		for _, o := range out {
			if got := s.event(o.Body, o.Header.Get("Stripe-Signature")); got != 200 {
				t.Fatalf("%s: %d", o.Type, got)
			}
		}
	}
	if n := s.count("stripe_event"); n != len(out) {
		t.Errorf("%d events stored of %d", n, len(out))
	}
	if n := s.count("job WHERE kind = 'stripe.event' AND org_id = $1", c.Org); n == 0 {
		t.Error("no job of the org")
	}
	large := append(bytes.Clone(out[0].Body), bytes.Repeat([]byte(" "), 256<<10)...)
	for what, want := range map[string]struct {
		body      []byte
		signature string
		status    int
	}{
		"forged":        {out[0].Body, "t=1,v1=00", 400},
		"stale":         {out[0].Body, stripe.Sign(s.StripeSecret, time.Now().Add(-10*time.Minute), out[0].Body), 400},
		"future-dated":  {out[0].Body, stripe.Sign(s.StripeSecret, time.Now().Add(10*time.Minute), out[0].Body), 400},
		"other version": {other(out[0].Body), stripe.Sign(s.StripeSecret, time.Now(), other(out[0].Body)), 400},
		"oversized":     {large, stripe.Sign(s.StripeSecret, time.Now(), large), 413},
	} {
		if got := s.event(want.body, want.signature); got != want.status {
			t.Errorf("%s: %d, want %d", what, got, want.status)
		}
	}
}

// other returns the event with another API version.
func other(body []byte) []byte {
	var e map[string]any
	_ = json.Unmarshal(body, &e)
	e["api_version"] = "2024-06-20"
	b, _ := json.Marshal(e)
	return b
}
