package social_test

import (
	"errors"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
)

func TestADueGrantIsClaimedOnceAndRenewed(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g := s.grants("x", "x", 1, time.Minute)[0]
	before, r := s.stands(g), s.refresher()
	claims := s.sweep(r)
	if again := s.sweep(r); len(claims) != 1 || len(again) != 0 {
		t.Fatalf("claimed %d, and again %d", len(claims), len(again))
	}
	if out, err := r.Refresh(t.Context(), claims[0]); out != social.Renewed || err != nil {
		t.Fatal(out, err)
	}
	after := s.stands(g)
	if !s.alive(g) {
		t.Error("the stored token is not alive")
	}
	if same(before.Refresh, after.Refresh) {
		t.Error("the refresh token is still the first one")
	}
	if want := before.Version + 3; after.Version != want {
		t.Errorf("version %d, want %d", after.Version, want)
	}
	if life := after.Until.Sub(after.IssuedAt); after.RefreshAt.Before(after.IssuedAt.Add(life/2)) ||
		after.RefreshAt.After(after.IssuedAt.Add(life*85/100)) {
		t.Errorf("issued %s, ends %s, due %s", after.IssuedAt, after.Until, after.RefreshAt)
	}
	// A claim is valid for one attempt.
	if out, err := r.Refresh(t.Context(), claims[0]); out != social.Moved || err != nil || s.requests() != 1 {
		t.Errorf("%s, %v, %d requests; want %s, 1", out, err, s.requests(), social.Moved)
	}
}

// TestALifetimeIsTakenFromTheAnswer changes the provider's stated lifetime between two responses.
func TestALifetimeIsTakenFromTheAnswer(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g, r := s.grants("x", "x", 1, time.Minute)[0], s.refresher()
	for _, life := range []time.Duration{24 * time.Hour, 2 * time.Hour} {
		s.knobs("x", oauth.Knobs{Lifetime: oauth.Seconds(life.Seconds())})
		s.set1("UPDATE social_grant SET refresh_at = now()")
		if out := s.one(r); out != social.Renewed {
			t.Fatal(out)
		}
		got := s.stands(g)
		if d := got.Until.Sub(got.IssuedAt); d < life-time.Second || d > life {
			t.Errorf("lives for %s, want %s", d, life)
		}
		if end := got.IssuedAt.Add(life); got.RefreshAt.After(end) {
			t.Errorf("refreshed at %s, after the end %s", got.RefreshAt, end)
		}
	}
}

func TestARefreshTokenIsNeverReplacedByNone(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"", oauth.Absent, oauth.Empty, oauth.Same} {
		t.Run("answer "+says, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, nil)
			s.knobs("x", oauth.Knobs{RefreshToken: says, Rotation: oauth.Fixed})
			g, r := s.grants("x", "x", 1, time.Minute)[0], s.refresher()
			before, _ := s.holder(g)
			if out := s.one(r); out != social.Renewed {
				t.Fatal(out)
			}
			after, newest := s.holder(g)
			if after.ID != before.ID {
				t.Errorf("login %v, want %v", after.ID, before.ID)
			}
			if !newest || !s.alive(g) {
				t.Errorf("the newest token %v, alive %v; want both", newest, s.alive(g))
			}
		})
	}
}

// TestWhatAnAnswerMeansForTheGrant checks the effect of each error class.
func TestWhatAnAnswerMeansForTheGrant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		fault    oauth.Fault
		out      social.Outcome
		status   string
		attempt  bool // stays open: the token may be spent
		failures int
	}{
		{
			"refused for good",
			oauth.Fault{Status: 400, Body: `{"error":"invalid_grant"}`},
			social.Refused,
			"reauth_required", false, 0,
		},
		{"server error", oauth.Fault{Status: 503}, social.Later, "active", false, 1},
		{"gateway", oauth.Fault{Status: 502}, social.Lost, "active", true, 1},
		{"line cut", oauth.Fault{}, social.Lost, "active", true, 1},
		{"throttled", oauth.Fault{Status: 429, RetryAfter: 120}, social.Throttled, "active", false, 0},
		{
			"our secret",
			oauth.Fault{Status: 401, Body: `{"error":"invalid_client"}`},
			social.Misconfigured, "active",
			false, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, nil)
			g, r := s.grants("x", "x", 1, time.Hour)[0], s.refresher()
			before := s.stands(g)
			c.fault.Times = 1
			if err := s.box.Strike(t.Context(), c.fault); err != nil {
				t.Fatal(err)
			}
			out := s.one(r)
			after := s.stands(g)
			if out != c.out || after.Status != c.status {
				t.Errorf("%s, status %s; want %s, %s", out, after.Status, c.out, c.status)
			}
			if attempt := after.Attempt != nil; attempt != c.attempt {
				t.Errorf("an attempt is recorded: %v, want %v", attempt, c.attempt)
			}
			if after.Failures != c.failures {
				t.Errorf("%d failures, want %d", after.Failures, c.failures)
			}
			if c.status == "active" && (!same(before.Refresh, after.Refresh) || !after.RefreshAt.After(time.Now())) {
				t.Errorf("%+v", after)
			}
			if c.status == "reauth_required" && (len(s.told) != 1 || after.Reason != "invalid_grant") {
				t.Errorf("told of %d: %+v", len(s.told), after)
			}
			// The token was not spent: the next attempt renews it.
			if c.status == "active" {
				s.set1("UPDATE social_grant SET refresh_at = now()")
				s.set1("UPDATE social_hold SET held_until = now()")
				if out := s.one(s.refresher()); out != social.Renewed || !s.alive(g) {
					t.Errorf("then %s: %+v", out, s.stands(g))
				}
				var holds int
				if err := s.sql.QueryRow(t.Context(),
					"SELECT count(*) FROM social_hold WHERE cause = 'misconfigured'").Scan(&holds); err != nil ||
					holds != 0 {
					t.Errorf("%d holds, %v", holds, err)
				}
			}
		})
	}
}

// TestALostAnswerOfAProviderThatRotatesIsLoud loses the response of a provider that rotates tokens, without a journal.
func TestALostAnswerOfAProviderThatRotatesIsLoud(t *testing.T) {
	t.Parallel()
	for rotation, want := range map[string]social.Outcome{oauth.Strict: social.Refused, oauth.Grace: social.Renewed} {
		t.Run(rotation, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, nil)
			s.knobs("x", oauth.Knobs{Rotation: rotation})
			g, r := s.grants("x", "x", 1, time.Hour)[0], s.refresher()
			if err := s.box.Strike(t.Context(), oauth.Fault{Done: true, Times: 1}); err != nil {
				t.Fatal(err)
			}
			if out := s.one(r); out != social.Lost {
				t.Fatal(out)
			}
			// A server error in between does not make the first outcome known.
			if err := s.box.Strike(t.Context(), oauth.Fault{Status: 503, Times: 1}); err != nil {
				t.Fatal(err)
			}
			s.set1("UPDATE social_grant SET refresh_at = now()")
			if out := s.one(r); out != social.Later {
				t.Fatal(out)
			}
			s.set1("UPDATE social_grant SET refresh_at = now()")
			out := s.one(r)
			after := s.stands(g)
			if out != want {
				t.Errorf("%s, want %s", out, want)
			}
			if want == social.Refused && (after.Reason != social.RotationOutcomeLost || len(s.told) != 1) {
				t.Errorf("reason %v, %d people notified; want %v, 1", after.Reason, len(s.told),
					social.RotationOutcomeLost)
			}
			if want == social.Renewed && !s.alive(g) {
				t.Errorf("the renewed token is not alive: %+v", after)
			}
		})
	}
}

func TestARefusalOfYesterdaysTokenIsARaceAndNoDeath(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g, r := s.grants("x", "x", 1, time.Hour)[0], s.refresher()
	if err := s.box.Strike(t.Context(),
		oauth.Fault{Status: 400, Body: `{"error":"invalid_grant"}`, Times: 1}); err != nil {
		t.Fatal(err)
	}
	r.AtStep(func(step string) {
		if step == "after answer" { // a person reconnects the login
			s.set1("UPDATE social_grant SET version = version + 1, attempt_state = NULL, attempt_at = NULL, " +
				"attempt_token_hash = NULL, refresh_at = now() + interval '1 hour'")
		}
	})
	if out, status := s.one(r), s.stands(g).Status; out != social.Moved || status != "active" || len(s.told) != 0 {
		t.Errorf("%s, status %s, %d people notified; want %s, active, none", out, status, len(s.told), social.Moved)
	}
}

func TestAGrantWithoutARefreshTokenEndsAtItsTime(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g, r := s.grants("x", "x", 1, time.Hour)[0], s.refresher()
	s.set1("UPDATE social_grant SET sealed_refresh = NULL")
	if out := s.one(r); out != social.Postponed || !s.stands(g).RefreshAt.Equal(*s.stands(g).Until) {
		t.Errorf("%s: %+v", out, s.stands(g))
	}
	s.set1("UPDATE social_grant SET access_expires_at = now(), refresh_at = now()")
	if out := s.one(r); out != social.Refused {
		t.Errorf("%s, want %s", out, social.Refused)
	}
	if got := s.stands(g); got.Status != "reauth_required" || got.Reason != "expired" {
		t.Errorf("%s because of %s, want reauth_required because of expired", got.Status, got.Reason)
	}
	if len(s.told) != 1 {
		t.Errorf("%d people notified, want 1", len(s.told))
	}
}

func TestATokenIsAnsweredLivingOrRenewedOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g, r := s.grants("x", "x", 1, time.Hour)[0], s.refresher()
	first, err := r.Token(t.Context(), g.org, g.grant)
	if err != nil {
		t.Fatal(err)
	}
	if first.Refresh != "" {
		t.Fatal("the refresh token is given away")
	}
	if n := s.requests(); n != 0 {
		t.Fatalf("%d requests, want none", n)
	}
	s.set1("UPDATE social_grant SET access_expires_at = now() + interval '10 seconds', refresh_at = now() + " +
		"interval '1 hour'")
	second, err := r.Token(t.Context(), g.org, g.grant)
	if err != nil {
		t.Fatal(err)
	}
	if second.Access == first.Access {
		t.Fatal("the access token is still the first one")
	}
	if held, _ := s.holder(g); second.Access.Reveal() != held.Access {
		t.Fatal("the access token is not the provider's")
	}
	if n := s.requests(); n != 1 {
		t.Fatalf("%d requests, want 1", n)
	}
	// The backoff after a failure applies to every caller.
	s.set1("UPDATE social_grant SET access_expires_at = now()")
	if err := s.box.Strike(t.Context(), oauth.Fault{Status: 503, Times: 1}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.Token(t.Context(), g.org, g.grant); !errors.Is(err, social.ErrTokenLater) {
			t.Error(err)
		}
	}
	if s.requests() != 2 || s.stands(g).Status != "expiring" {
		t.Errorf("%d requests, %+v", s.requests(), s.stands(g))
	}
	s.set1("UPDATE social_grant SET status = 'reauth_required'")
	if _, err := r.Token(t.Context(), g.org, g.grant); !errors.Is(err, social.ErrReauth) {
		t.Error(err)
	}
}
