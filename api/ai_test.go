package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sandbox/model"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// spent is the org's token account as the API returns it.
type spent struct {
	Period     string
	ResetsAt   time.Time `json:"resets_at"`
	Limit      *int64
	Used       int64
	Reserved   int64
	Remaining  *int64
	Operations []struct {
		Operation        string
		Requests, Tokens int64
	}
}

func (c *caller) spent() (s spent) {
	c.Helper()
	got := c.do(http.MethodGet, "/api/v1/ai/usage", nil)
	got.want(c, 200, "")
	got.into(c, &s)
	return s
}

func (c *caller) person() string {
	c.Helper()
	got := c.do(http.MethodPost, "/api/v1/crm/contacts",
		`{"email":"ada@acme.example","first_name":"Ada","last_name":"L","stage":"mql"}`)
	got.want(c, 201, "")
	var out struct{ ID string }
	got.into(c, &out)
	return out.ID
}

type cost struct {
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	}
}

func TestTheFourAIEndpointsAnswerAndChargeWhatTheySay(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.signup()
	contact := c.person()
	var sum int64
	for path, body := range map[string]string{
		"draft-email":       fmt.Sprintf(`{"contact_id":%q,"goal":"A meeting next week"}`, contact),
		"summarize-contact": fmt.Sprintf(`{"contact_id":%q}`, contact),
		"next-action":       fmt.Sprintf(`{"contact_id":%q}`, contact),
		"classify-reply":    `{"text":"Sounds good, call me on Monday."}`,
	} {
		got := c.do(http.MethodPost, "/api/v1/ai/"+path, body)
		got.want(t, 200, "")
		var u cost
		got.into(t, &u)
		if u.Usage.Total <= 0 || u.Usage.Total != u.Usage.Prompt+u.Usage.Completion {
			t.Errorf("%s: the total is not the sum, or not positive: %+v", path, u.Usage)
		}
		if used := got.Header.Get("X-Ai-Tokens-Used"); used != fmt.Sprint(u.Usage.Total) {
			t.Errorf("%s: X-Ai-Tokens-Used %q, want %d", path, used, u.Usage.Total)
		}
		if !strings.Contains(got.Header.Get("RateLimit-Policy"), `"ai-minute";q=50000;w=60`) ||
			!strings.HasPrefix(got.Header.Get("RateLimit"), `"ai-`) {
			t.Errorf("%s: %q %q", path, got.Header.Get("RateLimit-Policy"), got.Header.Get("RateLimit"))
		}
		if got.Header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("%s was counted as a request", path)
		}
		sum += u.Usage.Total
	}
	u := c.spent()
	if u.Limit == nil || u.Remaining == nil {
		t.Fatalf("limit %v, remaining %v; want both", u.Limit, u.Remaining)
	}
	want := u
	want.Used, want.Reserved, want.Remaining = sum, 0, new(*u.Limit-sum)
	if diff := cmp.Diff(want, u); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if len(u.Operations) != 4 {
		t.Errorf("%d operations, want 4: %+v", len(u.Operations), u.Operations)
	}
	if u.ResetsAt.Day() != 1 {
		t.Errorf("resets at %v, want the first day of a month", u.ResetsAt)
	}
	c.as(auth.Viewer).do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"x"}`).want(t, 403, "forbidden")
	c.do(http.MethodPost, "/api/v1/ai/summarize-contact", `{"contact_id":"01890000-0000-7000-8000-000000000000"}`).
		want(t, 404, "not_found")
	s.signup().do(http.MethodPost, "/api/v1/ai/summarize-contact", fmt.Sprintf(`{"contact_id":%q}`, contact)).
		want(t, 404, "not_found")
}

func TestAProviderThatFailsIsSaidAndNotCharged(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	var mood model.Mood
	s.Model.Mood = func() model.Mood { return mood }
	for _, one := range []struct {
		mood   model.Mood
		code   string
		retry  string
		reason string
	}{
		{model.Down, "ai_unavailable", "5", "the provider failed (status 500"},
		{model.Busy, "ai_unavailable", "7", "the provider's rate limit is reached (status 429"},
		{model.Cut, "ai_unavailable", "5", "the provider cannot be reached"},
		{model.Prose, "ai_unavailable", "5", "its answer has not the form that was asked for"},
		{model.Chatty, "ai_unavailable", "5", "its answer has not the form that was asked for"},
	} {
		mood = one.mood
		got := c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`)
		got.want(t, 503, one.code)
		if !strings.Contains(string(got.Body), one.reason) {
			t.Errorf("%s: %s, want the reason %q", mood, got.Body, one.reason)
		}
		if after := got.Header.Get("Retry-After"); after != one.retry {
			t.Errorf("%s: Retry-After %q, want %q", mood, after, one.retry)
		}
		if u := c.spent(); u.Used != 0 || u.Reserved != 0 {
			t.Errorf("%s: %+v", mood, u)
		}
	}
	mood = model.Silent // unknown usage charges the estimate
	var silent, over cost
	got := c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`)
	got.want(t, 200, "")
	got.into(t, &silent)
	if u := c.spent(); u.Used != silent.Usage.Total || u.Used < 150 {
		t.Errorf("a silent provider: %+v, charged %+v", silent, u)
	}
	mood = model.Overrun // charges the usage, even above the reservation
	got = c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`)
	got.into(t, &over)
	if u := c.spent(); u.Used != silent.Usage.Total+over.Usage.Total || over.Usage.Completion != 450 {
		t.Errorf("an overrun: %+v, charged %+v", over, u)
	}
}

func TestAProviderThatIsSlowIsGivenUpAndNotCharged(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) { d.AITime = 50 * time.Millisecond })
	c := s.signup()
	s.Model.Mood = func() model.Mood { return model.Slow }
	got := c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`)
	got.want(t, 503, "ai_unavailable")
	if u := c.spent(); u.Used != 0 || u.Reserved != 0 {
		t.Errorf("%+v", u)
	}
}

func TestAKeyedAIRequestIsAnsweredAgainWithoutACharge(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	ask := func(key, text string) answer {
		return c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"`+text+`"}`, "Idempotency-Key", key)
	}
	first := ask("k1", "yes")
	first.want(t, 200, "")
	used := c.spent().Used
	again := ask("k1", "yes")
	again.want(t, 200, "")
	if diff := cmp.Diff(string(first.Body), string(again.Body)); diff != "" {
		t.Errorf("the second response (-want +got):\n%s", diff)
	}
	if replayed := again.Header.Get("Idempotent-Replayed"); replayed != "true" {
		t.Errorf("Idempotent-Replayed %q, want true", replayed)
	}
	if now := c.spent().Used; now != used {
		t.Errorf("the second request cost %d tokens", now-used)
	}
	ask("k1", "no").want(t, 422, "idempotency_mismatch")
	// Of concurrent duplicates, only one calls the provider.
	var calls atomic.Int64
	hold := make(chan struct{})
	s.Model.Mood = func() model.Mood {
		if calls.Add(1) == 1 {
			<-hold
		}
		return model.Well
	}
	var all sync.WaitGroup
	var fine, inFlight atomic.Int64
	for range 4 {
		all.Go(func() {
			switch ask("k2", "yes").Status {
			case 200:
				fine.Add(1)
			case 409:
				if inFlight.Add(1) == 3 {
					close(hold)
				}
			}
		})
	}
	all.Wait()
	type requests struct{ Calls, Fine, InFlight int64 }
	if diff := cmp.Diff(requests{1, 1, 3}, requests{calls.Load(), fine.Load(), inFlight.Load()}); diff != "" {
		t.Errorf("concurrent requests (-want +got):\n%s", diff)
	}
}

func TestTokensAndRequestsDoNotSpendEachOther(t *testing.T) {
	t.Parallel()
	s := start(t, func(d *api.Deps) { d.AIPerMinute = 1200 })
	c := s.signup()
	tired := false
	for range 10 {
		if got := c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`); got.Status == 429 {
			got.want(t, 429, "ai_rate_limited")
			if got.Header.Get("Retry-After") == "" || !strings.Contains(string(got.Body), "ai-minute") {
				t.Errorf("%v %s", got.Header, got.Body)
			}
			tired = true
			break
		}
	}
	if !tired {
		t.Fatal("the minute's bucket is not empty after ten requests")
	}
	c.do(http.MethodGet, "/api/v1/crm/contacts", nil).want(t, 200, "")
	c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"`+strings.Repeat("word ", 1000)+`"}`).
		want(t, 422, "ai_request_too_large")

	other := s.signup()
	for range 220 {
		if other.do(http.MethodGet, "/api/v1/auth/me", nil).Status == 429 {
			break
		}
	}
	other.do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 429, "rate_limited")
	other.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`).want(t, 200, "")
}

func TestWhatACallDoesNotUseIsGivenBackToTheMinute(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) { d.AIPerMinute = 1200 })
	c := s.signup()
	var left, wait int64
	for range 2 {
		got := c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`)
		got.want(t, 200, "")
		if _, err := fmt.Sscanf(got.Header.Get("RateLimit"), `"ai-minute";r=%d;t=%d`, &left, &wait); err != nil {
			t.Fatalf("%v: %v", got.Header, err)
		}
	}
	if used := c.spent().Used; left < 1200-used {
		t.Errorf("two calls used %d of 1200 and %d are left", used, left)
	}
}

func TestTokensAreAmongWhatAnOrgMayUse(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`).want(t, 200, "")
	want := c.spent()
	var got struct {
		Features map[string]struct {
			Used     *int64
			ResetsAt *time.Time `json:"resets_at"`
		}
	}
	c.do(http.MethodGet, "/billing/my-entitlements", nil).into(t, &got)
	f := got.Features["ai_tokens_month"]
	if want.Used == 0 {
		t.Error("no tokens were used")
	}
	if diff := cmp.Diff(&want.Used, f.Used); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&want.ResetsAt, f.ResetsAt); diff != "" {
		t.Errorf("resets_at (-want +got):\n%s", diff)
	}
}

func TestARedisThatForgetsChangesNothingOfTheMonth(t *testing.T) {
	t.Parallel()
	link, err := redisx.Open(testkit.Redis(t), redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	s := start(t, unlimited, func(d *api.Deps) {
		d.Tokens, d.AIPerMinute = limits.NewTokens(link, testkit.Log(t)), 1200
	})
	c := s.signup()
	ask := func() answer { return c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`) }
	n := 0
	for ask().Status == 200 {
		n++
	}
	ask().want(t, 429, "ai_rate_limited")
	before := c.spent()
	if n == 0 {
		t.Fatal("no request was served")
	}
	if before.Used == 0 || before.Reserved != 0 {
		t.Fatalf("used %d, reserved %d; want some and none", before.Used, before.Reserved)
	}
	if err := link.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if after := c.spent(); after.Used != before.Used || after.Reserved != 0 {
		t.Errorf("%+v became %+v", before, after)
	}
	ask().want(t, 429, "ai_rate_limited") // this process still counts its tokens of the minute
	if after := c.spent(); after.Used != before.Used || after.Reserved != 0 {
		t.Errorf("%+v became %+v", before, after)
	}
}

func TestAMonthThatIsUsedUpLeavesTheCRMAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	limit := *c.spent().Limit
	if err := s.DB.App.Tx(t.Context(), c.Org, func(tx *postgres.Tx) error {
		r, err := ai.Reserve(t.Context(), tx,
			ai.Want{Operation: "draft_email", Estimate: limit - 10, Limit: limit, Timeout: time.Minute})
		if err != nil {
			return err
		}
		return ai.Settle(t.Context(), tx, r.ID, limit-10)
	}); err != nil {
		t.Fatal(err)
	}
	got := c.do(http.MethodPost, "/api/v1/ai/classify-reply", `{"text":"yes"}`)
	got.want(t, 429, "ai_quota_exhausted")
	if !strings.Contains(string(got.Body), "ai-month") || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", got.Header, got.Body)
	}
	c.person()
	if u := c.spent(); u.Used != limit-10 || u.Reserved != 0 {
		t.Errorf("%+v", u)
	}
}
