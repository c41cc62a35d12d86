package oauth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
)

func TestAFaultStrikesAsOftenAsItWasTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	g := w.issue()
	for _, f := range []oauth.Fault{
		{Family: "tiktok", Op: "token", Status: 500},
		{Family: "x", Op: "api", Status: 500},
		{Family: "x", Op: "token", Status: 429, RetryAfter: 17, Times: 2},
		{Op: "token", Status: 200, Body: `{"error":"server_error"}`, Times: 1},
	} {
		if err := w.Strike(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct {
		status int
		retry  string
		token  bool
	}{{429, "17", false}, {429, "17", false}, {200, "", false}, {200, "", true}} {
		a := w.must(w.refresh(w.holder(g.Access).Refresh))
		if retry, token := a.header.Get("Retry-After"), a.text("access_token") != ""; a.status != want.status ||
			retry != want.retry || token != want.token {
			t.Errorf("request %d: %d, Retry-After %q, token %v; want %+v", i, a.status, retry, token, want)
		}
	}
	if h := w.holder(g.Access); h.Requests != 1 || h.Refreshes != 1 {
		t.Errorf("the struck ones reached the login: %+v", h)
	}
	if a := w.must(w.request("GET", "api.x.com/2/users/me", nil, "", "")); a.status != 500 {
		t.Errorf("the API is well: %d", a.status)
	}
	if err := w.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := w.must(w.request("GET", "api.x.com/2/users/me", nil, "", "")); a.status != 401 {
		t.Errorf("the API is not well again: %d", a.status)
	}
}

// TestAnAnswerThatIsDroppedWasGiven drops responses over the network and within the process, before and after the work.
func TestAnAnswerThatIsDroppedWasGiven(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		w := newWorld(t, oauth.Options{})
		inside := &http.Client{Transport: w.Transport()}
		for name, client := range map[string]*http.Client{"line": http.DefaultClient, "process": inside} {
			g := w.issue()
			if err := w.Strike(t.Context(), oauth.Fault{Family: "x", Op: "token", Done: done, Times: 1}); err != nil {
				t.Fatal(err)
			}
			id, password := oauth.Client("x")
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"api.x.com/2/oauth2/token",
				strings.NewReader(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}}.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(id, password)
			res, err := client.Do(req)
			if err == nil {
				_ = res.Body.Close()
				t.Fatalf("%s: an answer came: %d", name, res.StatusCode)
			}
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v", name, err)
			}
			h := w.holder(g.Access)
			if (h.Refreshes == 1) != done || (h.Refresh != g.Refresh) != done {
				t.Errorf("%s, done %v: %+v", name, done, h)
			}
		}
	}
}

func TestAProviderThatHangsDoesSoUntilOneGoesAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	g := w.issue()
	if err := w.Strike(t.Context(), oauth.Fault{Op: "token", Hang: true, Done: true, Times: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	id, password := oauth.Client("x")
	go func() {
		_, err := w.requestIn(ctx, "POST", "api.x.com/2/oauth2/token",
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}}, id, password)
		gone <- err
	}()
	for w.holder(g.Access).Refreshes == 0 { // the request is processed while the caller waits
		if t.Context().Err() != nil {
			t.Fatal("it was never done")
		}
	}
	select {
	case err := <-gone:
		t.Fatalf("an answer came: %v", err)
	default:
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnswersLeaveOutWhatTheKnobsSay(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]oauth.Knobs{
		"no expires_in":       {NoExpiresIn: true},
		"no refresh token":    {RefreshToken: oauth.Absent},
		"empty refresh token": {RefreshToken: oauth.Empty},
		"same refresh token":  {RefreshToken: oauth.Same, Rotation: oauth.Fixed},
		"no end":              {Lifetime: -1},
	} {
		w := newWorld(t, oauth.Options{})
		g := w.issue()
		if err := w.Set(t.Context(), "x", k); err != nil {
			t.Fatal(err)
		}
		a := w.must(w.refresh(g.Refresh))
		_, expires := a.body["expires_in"]
		refresh, has := a.body["refresh_token"]
		if a.status != 200 {
			t.Errorf("%s: status %d, want 200: %s", name, a.status, a.raw)
		}
		if want := !k.NoExpiresIn && k.Lifetime >= 0; expires != want {
			t.Errorf("%s: has expires_in: %v, want %v: %s", name, expires, want, a.raw)
		}
		if want := k.RefreshToken != oauth.Absent; has != want {
			t.Errorf("%s: has refresh_token: %v, want %v: %s", name, has, want, a.raw)
		}
		if k.RefreshToken == oauth.Empty && refresh != "" {
			t.Errorf("%s: refresh token %q, want an empty one", name, refresh)
		}
		if k.RefreshToken == oauth.Same && refresh != g.Refresh {
			t.Errorf("%s: refresh token %q, want %q", name, refresh, g.Refresh)
		}
	}
}

func TestAnAnswerTakesAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	if err := w.Set(t.Context(), "x", oauth.Knobs{Latency: 0.05, LatencyMax: 0.06}); err != nil {
		t.Fatal(err)
	}
	g, before := w.issue(), time.Now()
	if a := w.must(w.refresh(g.Refresh)); a.status != 200 || time.Since(before) < 50*time.Millisecond {
		t.Errorf("%d after %v", a.status, time.Since(before))
	}
}
