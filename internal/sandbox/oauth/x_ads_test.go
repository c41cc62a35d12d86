package oauth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/oauth1"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// signer returns a signer for the application of X Ads and a token.
func signer(token, secret string) oauth1.Signer {
	id, clientSecret := oauth.Client("x_ads")
	return oauth1.Signer{Key: id, Secret: clientSecret, Token: token, TokenSecret: secret, Now: time.Now}
}

// signed sends a request with a signature of the address was, which may differ from the requested address.
func (w *world) signed(s oauth1.Signer, method, address, was string, more ...oauth1.Param) answer {
	w.t.Helper()
	u, err := url.Parse("https://" + was)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.bearing(s.Header(method, u, nil, more...), method, address)
}

// bearing sends a request with an Authorization header.
func (w *world) bearing(header, method, address string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", header)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &a.body)
	return a
}

// code returns the number of an error of X; 0 for none.
func (a answer) code() int {
	var said struct {
		Errors []struct {
			Code int `json:"code"`
		} `json:"errors"`
	}
	_ = json.Unmarshal([]byte(a.raw), &said)
	if len(said.Errors) == 0 {
		return 0
	}
	return said.Errors[0].Code
}

const accounts = "ads-api.x.com/12/accounts?count=2"

func TestARequestIsServedOnlyWithASignatureThatFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	g, err := w.Issue(t.Context(), "x_ads", "Ada Lovelace")
	if err != nil {
		t.Fatal(err)
	}
	good := signer(g.Access, g.Secret)
	at := func(d time.Duration) oauth1.Signer {
		s := good
		s.Now = func() time.Time { return time.Now().Add(d) }
		return s
	}
	wrong := good
	wrong.Secret = "another"
	stranger := good
	stranger.Key = "another"
	for name, c := range map[string]struct {
		s            oauth1.Signer
		was          string
		status, code int
	}{
		"as it is":               {good, accounts, 200, 0},
		"four minutes ago":       {at(-4 * time.Minute), accounts, 200, 0},
		"six minutes ago":        {at(-6 * time.Minute), accounts, 401, 135},
		"in six minutes":         {at(6 * time.Minute), accounts, 401, 135},
		"another client secret":  {wrong, accounts, 401, 32},
		"another client":         {stranger, accounts, 401, 32},
		"another token's secret": {signer(g.Access, "another"), accounts, 401, 32},
		"no such token":          {signer("another", g.Secret), accounts, 401, 89},
		"without a token":        {signer("", ""), accounts, 401, 89},
		"of another query":       {good, "ads-api.x.com/12/accounts?count=1", 401, 32},
		"of another path":        {good, "ads-api.x.com/11/accounts?count=2", 401, 32},
		"of another host":        {good, "api.x.com/12/accounts?count=2", 401, 32},
	} {
		a := w.signed(c.s, "GET", accounts, c.was)
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	if a := w.bearing("Bearer "+g.Access, "GET", accounts); a.status != 401 || a.code() != 32 {
		t.Errorf("a bearer: %d %s", a.status, a.raw)
	}
	if err := w.Kill(t.Context(), g.ID, "revoked"); err != nil {
		t.Fatal(err)
	}
	if a := w.signed(good, "GET", accounts, accounts); a.status != 401 || a.code() != 89 {
		t.Errorf("a revoked token: %d %s", a.status, a.raw)
	}
}

func TestANonceIsGoodForOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	g, err := w.Issue(t.Context(), "x_ads", "Ada Lovelace")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse("https://" + accounts)
	if err != nil {
		t.Fatal(err)
	}
	header := signer(g.Access, g.Secret).Header("GET", u, nil)
	if a := w.bearing(header, "GET", accounts); a.status != 200 || !strings.Contains(a.raw, `"next_cursor":"2"`) {
		t.Errorf("at first: %d %s", a.status, a.raw)
	}
	if a := w.bearing(header, "GET", accounts); a.status != 401 || a.code() != 32 {
		t.Errorf("again: %d %s", a.status, a.raw)
	}
	w.ahead.Add(int64(11 * time.Minute)) // the nonce has expired, and the timestamp is too old
	if a := w.bearing(header, "GET", accounts); a.status != 401 || a.code() != 135 {
		t.Errorf("later: %d %s", a.status, a.raw)
	}
	none := signer(g.Access, g.Secret)
	none.Nonce = func() string { return "" }
	if a := w.signed(none, "GET", accounts, accounts); a.status != 401 {
		t.Errorf("without: %d %s", a.status, a.raw)
	}
}

// TestAClockThatWasMovedOnIsNotTheSignersClock: an operator advances the sandbox's clock to make tokens expire.
func TestAClockThatWasMovedOnIsNotTheSignersClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	g, err := w.Issue(t.Context(), "x_ads", "Ada Lovelace")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Advance(t.Context(), 48*time.Hour); err != nil {
		t.Fatal(err)
	}
	if a := w.signed(signer(g.Access, g.Secret), "GET", accounts, accounts); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestARequestTokenEndsInTenMinutesAndServesOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{Callbacks: []string{"https://crm.example.com/oauth/"}})
	const request, access = "api.x.com/oauth/request_token", "api.x.com/oauth/access_token"
	ask := func(callback string) (answer, url.Values) {
		a := w.signed(signer("", ""), "POST", request, request, oauth1.Param{Name: "oauth_callback", Value: callback})
		form, _ := url.ParseQuery(a.raw)
		return a, form
	}
	if a, _ := ask("https://evil.example.com/"); a.status != 403 || a.code() != 415 {
		t.Errorf("another callback: %d %s", a.status, a.raw)
	}
	a, made := ask("https://crm.example.com/oauth/x_ads/callback?state=s")
	if a.status != 200 || made.Get("oauth_callback_confirmed") != "true" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	authorize := w.url + "api.x.com/oauth/authorize?oauth_token=" + made.Get("oauth_token")
	exchange := func(verifier string) answer {
		s := signer(made.Get("oauth_token"), made.Get("oauth_token_secret"))
		return w.signed(s, "POST", access, access, oauth1.Param{Name: "oauth_verifier", Value: verifier})
	}
	if a := exchange(""); a.status != 401 {
		t.Errorf("before anybody consented: %d %s", a.status, a.raw)
	}
	back, err := consent.Give(t.Context(), http.DefaultClient, authorize, consent.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"state": "s", "oauth_token": made.Get("oauth_token")} {
		if got := back.Query().Get(name); got != want {
			t.Fatalf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := consent.Give(t.Context(), http.DefaultClient, authorize, consent.Choice{}); err == nil {
		t.Error("two people consented to one request")
	}
	if a := exchange("another"); a.status != 401 {
		t.Errorf("another verifier: %d %s", a.status, a.raw)
	}
	if a := exchange(back.Query().Get("oauth_verifier")); a.status != 200 || !strings.Contains(a.raw, "user_id=") {
		t.Errorf("exchange: %d %s", a.status, a.raw)
	}
	if a := exchange(back.Query().Get("oauth_verifier")); a.status != 401 {
		t.Errorf("again: %d %s", a.status, a.raw)
	}
	_, made = ask("https://crm.example.com/oauth/x_ads/callback?state=s")
	w.ahead.Add(int64(11 * time.Minute))
	late := w.url + "api.x.com/oauth/authorize?oauth_token=" + made.Get("oauth_token")
	if _, err := consent.Give(t.Context(), http.DefaultClient, late, consent.Choice{}); err == nil {
		t.Error("a request token that has ended is consented to")
	}
}
