package oauth_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
)

func TestARefreshTokenIsUsedTwiceUnderEveryRotation(t *testing.T) {
	t.Parallel()
	for rotation, want := range map[string]struct {
		second int // status of the second use
		alive  bool
		third  int // status of the successor's use
		same   bool
	}{
		oauth.Strict: {400, false, 400, false},
		oauth.Single: {400, true, 200, false},
		oauth.Grace:  {200, true, 200, false},
		oauth.Fixed:  {200, true, 200, true},
	} {
		w := newWorld(t, oauth.Options{})
		if err := w.Set(t.Context(), "x", oauth.Knobs{Rotation: rotation, Grace: 30}); err != nil {
			t.Fatal(err)
		}
		g := w.issue()
		first := w.must(w.refresh(g.Refresh))
		next := first.text("refresh_token")
		if next == "" {
			next = g.Refresh
		}
		if first.status != 200 {
			t.Fatalf("%s: %d %s", rotation, first.status, first.raw)
		}
		if same := next == g.Refresh; same != want.same {
			t.Fatalf("%s: the same refresh token: %v, want %v", rotation, same, want.same)
		}
		if first.text("access_token") == g.Access {
			t.Fatalf("%s: the access token is still %s", rotation, g.Access)
		}
		second := w.must(w.refresh(g.Refresh))
		if second.status != want.second || w.holder(g.Access).Alive != want.alive {
			t.Errorf("%s: the second use is %d, and the login %+v", rotation, second.status, w.holder(g.Access))
		}
		if rotation == oauth.Grace {
			if second.text("refresh_token") != next {
				t.Errorf("grace: another successor")
			}
			w.ahead.Add(int64(31 * time.Second))
			if late := w.must(w.refresh(g.Refresh)); late.status != 400 {
				t.Errorf("grace: after it %d", late.status)
			}
		}
		if third := w.must(w.refresh(next)); third.status != want.third {
			t.Errorf("%s: the successor's use is %d", rotation, third.status)
		}
	}
}

func TestOfManyWhoRefreshAtOnceOneSucceedsAndTheLoginEnds(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]oauth.Options{"memory": {}, "postgres": {Store: sealed(t)}} {
		w := newWorld(t, o)
		g := w.issue()
		var all sync.WaitGroup
		statuses := make(chan int, 20)
		for range cap(statuses) {
			all.Go(func() {
				a, err := w.refresh(g.Refresh)
				if err != nil {
					t.Error(err)
				}
				statuses <- a.status
			})
		}
		all.Wait()
		close(statuses)
		good := 0
		for s := range statuses {
			if s == 200 {
				good++
			}
		}
		if good != 1 {
			t.Errorf("%s: %d succeeded, want 1", name, good)
		}
		h := w.holder(g.Access)
		if h.Alive || h.Dead != "reuse" {
			t.Errorf("%s: alive %v, dead because of %q; want a grant dead because of reuse", name, h.Alive, h.Dead)
		}
		if h.Refreshes != 1 || h.Requests != 20 {
			t.Errorf("%s: %d refreshes, %d requests; want 1 and 20", name, h.Refreshes, h.Requests)
		}
		counts, err := w.Counts(t.Context())
		if err != nil || counts["x"]["token"] != 20 {
			t.Errorf("%s: %v, %v", name, counts, err)
		}
	}
}

func TestTokensEndWhenTheyWereSaidTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	if err := w.Set(t.Context(), "x", oauth.Knobs{Lifetime: 60, RefreshLifetime: 300}); err != nil {
		t.Fatal(err)
	}
	g := w.issue()
	me := func(token string) int {
		a := w.must(w.request("GET", "api.x.com/2/users/me?access_token="+url.QueryEscape(token), nil, "", ""))
		return a.status
	}
	if got := me(g.Access); got != 200 {
		t.Errorf("at once: %d", got)
	}
	w.ahead.Add(int64(61 * time.Second))
	if got := me(g.Access); got != 401 {
		t.Errorf("after its end: %d", got)
	}
	a := w.must(w.refresh(g.Refresh))
	if a.status != 200 {
		t.Errorf("refreshed: status %d, want 200: %s", a.status, a.raw)
	}
	for name, want := range map[string]float64{"expires_in": 60, "refresh_token_expires_in": 300} {
		if a.body[name] != want {
			t.Errorf("refreshed: %s %v, want %v", name, a.body[name], want)
		}
	}
	if got := me(a.text("access_token")); got != 200 {
		t.Errorf("with the refreshed token: status %d, want 200", got)
	}
	if err := w.Advance(t.Context(), 301*time.Second); err != nil {
		t.Fatal(err)
	}
	if late := w.must(w.refresh(a.text("refresh_token"))); late.status != 400 {
		t.Errorf("a refresh token after its end: %d", late.status)
	}
	if h := w.holder(g.Access); !h.Alive {
		t.Errorf("an old token ended the login: %+v", h)
	}
}

// TestClientsAuthenticateWhereTheProviderWantsIt calls each token endpoint with the correct secret, once in the place
// that the provider expects and once in the other.
func TestClientsAuthenticateWhereTheProviderWantsIt(t *testing.T) {
	t.Parallel()
	for family, at := range map[string]struct {
		address, id, secret string
		basic               bool
	}{
		"linkedin":  {"www.linkedin.com/oauth/v2/accessToken", "client_id", "client_secret", false},
		"x":         {"api.x.com/2/oauth2/token", "client_id", "client_secret", true},
		"tiktok":    {"open.tiktokapis.com/v2/oauth/token/", "client_key", "client_secret", false},
		"google":    {"oauth2.googleapis.com/token", "client_id", "client_secret", false},
		"pinterest": {"api.pinterest.com/v5/oauth/token", "client_id", "client_secret", true},
	} {
		w := newWorld(t, oauth.Options{})
		g, err := w.Issue(t.Context(), family, "Ada Lovelace", "openid")
		if err != nil {
			t.Fatal(err)
		}
		id, secret := oauth.Client(family)
		ask := func(basic bool, secret string) answer {
			form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {w.holder(g.Access).Refresh}}
			if basic {
				return w.must(w.request("POST", at.address, form, id, secret))
			}
			form.Set(at.id, id)
			form.Set(at.secret, secret)
			return w.must(w.request("POST", at.address, form, "", ""))
		}
		if a := ask(!at.basic, secret); a.text("access_token") != "" {
			t.Errorf("%s takes its client at the wrong place", family)
		}
		if a := ask(at.basic, "another"); a.text("access_token") != "" {
			t.Errorf("%s takes another secret", family)
		}
		if h := w.holder(g.Access); !h.Alive || h.Requests != 0 {
			t.Errorf("%s: strangers reached the login: %+v", family, h)
		}
		if a := ask(at.basic, secret); !strings.Contains(a.text("access_token"), oauth.TokenMark) {
			t.Errorf("%s refuses its client: %s", family, a.raw)
		}
	}
}

func TestWhoTakesAGrantBackEndsWhatTheProviderEndsWithIt(t *testing.T) {
	t.Parallel()
	for family, siblings := range map[string]bool{"google": true, "x": false} {
		w := newWorld(t, oauth.Options{})
		var grants []oauth.Grant
		for _, person := range []string{"Ada Lovelace", "Ada Lovelace", "Grace Hopper"} {
			g, err := w.Issue(t.Context(), family, person, "openid", "offline.access")
			if err != nil {
				t.Fatal(err)
			}
			grants = append(grants, g)
		}
		address, form := "oauth2.googleapis.com/revoke", url.Values{"token": {grants[0].Access}}
		id, secret := "", ""
		if family == "x" {
			address = "api.x.com/2/oauth2/revoke"
			id, secret = oauth.Client("x")
		}
		if a := w.must(w.request("POST", address, form, id, secret)); a.status != 200 {
			t.Fatalf("%s: %s", family, a.raw)
		}
		for i, want := range []bool{false, !siblings, true} {
			if h := w.holder(grants[i].Access); h.Alive != want {
				t.Errorf("%s: login %d alive %v", family, i, h.Alive)
			}
		}
	}
}
