package provider_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// TestARefreshTokenIsNeverReplacedByNone tries every form of refresh token in a response, in any order, by refreshing
// and by reconnecting: afterwards there is always a refresh token, and it works.
func TestARefreshTokenIsNeverReplacedByNone(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"x", "tiktok", "linkedin", "youtube", "pinterest"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.get(t, platform)
			token := w.token(t, p, consent.Choice{})
			seed := rand.Uint64()
			random := rand.New(rand.NewPCG(seed, 1))
			answers := []oauth.Knobs{
				{RefreshToken: oauth.Absent, Rotation: oauth.Fixed},
				{RefreshToken: oauth.Empty, Rotation: oauth.Fixed},
				{RefreshToken: oauth.Same, Rotation: oauth.Fixed},
				{Rotation: oauth.Strict}, // a new token
			}
			for step := range 24 {
				k := answers[random.IntN(len(answers))]
				reconnect := random.IntN(2) == 0
				if step < 8 { // each form at least once
					k, reconnect = answers[step/2], step%2 == 0
				}
				if err := w.Set(t.Context(), p.Family, k); err != nil {
					t.Fatal(err)
				}
				about := fmt.Sprintf("seed %d, step %d, %+v, reconnect %v", seed, step, k, reconnect)
				var fresh provider.Token
				var err error
				if reconnect {
					fresh = w.token(t, p, consent.Choice{}).KeepRefreshOf(token)
				} else if fresh, err = p.Refresh(t.Context(), token); err != nil {
					t.Fatalf("%s: %v", about, err)
				}
				if fresh.Refresh == "" {
					t.Fatalf("%s: it was replaced by none", about)
				}
				if k.RefreshToken != "" && !reconnect && fresh.Refresh != token.Refresh {
					t.Fatalf("%s: it was replaced", about)
				}
				if k.RefreshToken == "" && k.Rotation == oauth.Strict && fresh.Refresh == token.Refresh {
					t.Fatalf("%s: the new one was not taken", about)
				}
				if fresh.Refresh == token.Refresh && token.RefreshExpiresAt != nil && fresh.RefreshExpiresAt == nil {
					t.Fatalf("%s: its end was forgotten", about)
				}
				token = fresh
			}
			if _, err := p.Refresh(t.Context(), token); err != nil {
				t.Errorf("seed %d: at the end it does not work: %v", seed, err)
			}
		})
	}
}

func TestLifetimesAreThoseThatTheAnswerStates(t *testing.T) {
	t.Parallel()
	for _, spec := range provider.Catalogue() {
		if spec.Renewal == provider.NoRenewal {
			continue
		}
		w := newWorld(t)
		p := w.get(t, spec.Platform)
		token := w.token(t, p, consent.Choice{})
		for i, k := range []oauth.Knobs{
			{Lifetime: 5 * 86400},
			{Lifetime: 3 * 86400},
			{NoExpiresIn: true},
			{Lifetime: 100000},
		} {
			k.MinAge = -1
			if err := w.Set(t.Context(), p.Family, k); err != nil {
				t.Fatal(err)
			}
			fresh, err := p.Refresh(t.Context(), token)
			if err != nil {
				t.Fatalf("%s: %v", p.Platform, err)
			}
			want := time.Duration(k.Lifetime) * time.Second
			if k.NoExpiresIn {
				want = p.Spec.Lifetime
			}
			if fresh.Lifetime() != want || fresh.LifetimeAssumed != k.NoExpiresIn {
				t.Errorf("%s, answer %d: %v (assumed %v), want %v", p.Platform, i, fresh.Lifetime(),
					fresh.LifetimeAssumed, want)
			}
			token = fresh
		}
	}
}

func TestLifetimesAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	body := make(chan string, 1)
	set := answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, <-body) })
	p, err := set.Get("x")
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Hour
	for form, want := range map[string]struct {
		access, refresh time.Duration
		assumed         bool
	}{
		`"expires_in":3600`:                                           {hour, 0, false},
		`"expires_in":"3600"`:                                         {hour, 0, false},
		`"expires_in":3600.0,"refresh_expires_in":7200`:               {hour, 2 * hour, false},
		`"expires_in":3600,"refresh_token_expires_in":7200`:           {hour, 2 * hour, false},
		`"expires_in":3600,"refresh_token_expires_in":"soon"`:         {hour, 0, false},
		`"expires_in":0`:                                              {2 * hour, 0, true},
		`"expires_in":-5`:                                             {2 * hour, 0, true},
		`"expires_in":null`:                                           {2 * hour, 0, true},
		`"expires_in":"never"`:                                        {2 * hour, 0, true},
		`"expires_in":1e300`:                                          {2 * hour, 0, true},
		`"scope":["a","b"]`:                                           {2 * hour, 0, true},
		`"scope":"a b","expires_in":{"n":1},"refresh_expires_in":[1]`: {2 * hour, 0, true},
	} {
		body <- `{"access_token":"a","refresh_token":"r",` + form + `}`
		token, err := p.Refresh(t.Context(), provider.Token{Refresh: "old", Scopes: []string{"kept"}})
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		var refresh time.Duration
		if token.RefreshExpiresAt != nil {
			refresh = token.RefreshExpiresAt.Sub(token.IssuedAt)
		}
		if token.Lifetime() != want.access || token.LifetimeAssumed != want.assumed {
			t.Errorf("%s: lifetime %v, assumed %v; want %v, %v", form, token.Lifetime(), token.LifetimeAssumed,
				want.access, want.assumed)
		}
		if refresh != want.refresh {
			t.Errorf("%s: the refresh token lives for %v, want %v", form, refresh, want.refresh)
		}
		if len(token.Scopes) == 0 {
			t.Errorf("%s: no scopes", form)
		}
	}
}
