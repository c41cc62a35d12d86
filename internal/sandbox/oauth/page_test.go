package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

func TestScriptsOperateTheSandboxByItsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{})
	do := func(pairs ...string) answer {
		form := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		return w.must(w.request("POST", "do?format=json", form, "", ""))
	}
	a := do("do", "issue", "family", "x", "person", "Ada Lovelace", "scope", "users.read offline.access")
	id, refresh := a.text("id"), a.text("refresh_token")
	if a.status != 200 {
		t.Fatalf("status %d: %s", a.status, a.raw)
	}
	if id == "" {
		t.Fatalf("no id: %s", a.raw)
	}
	if !strings.Contains(refresh, oauth.TokenMark) {
		t.Fatalf("refresh token %q, want %q in it", refresh, oauth.TokenMark)
	}
	if a.body["alive"] != true {
		t.Fatalf("alive: %v, want true", a.body["alive"])
	}
	if a = do("do", "holder", "token", refresh); a.text("id") != id {
		t.Error(a.raw)
	}
	if a = do("do", "set", "family", "x", "knobs", `{"lifetime":600,"rotation":"grace"}`); a.status != 200 {
		t.Error(a.raw)
	}
	if a = do("do", "strike", "fault", `{"family":"x","op":"token","status":503,"times":1}`); a.status != 200 {
		t.Error(a.raw)
	}
	if a = w.must(w.refresh(refresh)); a.status != 503 {
		t.Error(a.status)
	}
	if a = w.must(w.refresh(refresh)); a.status != 200 || a.body["expires_in"] != float64(600) {
		t.Error(a.raw)
	}
	if a = do("do", "advance", "by", "2h"); a.status != 200 {
		t.Error(a.raw)
	}
	if a = do("do", "kill", "id", id, "why", "password changed"); a.status != 200 {
		t.Error(a.raw)
	}
	if a = do("do", "outage", "family", "x", "status", "0", "done", "1"); a.status != 200 {
		t.Error(a.raw)
	}
	if a = do("do", "clear"); a.status != 200 {
		t.Error(a.raw)
	}
	for _, wrong := range [][]string{
		{"do", "fly"},
		{"do", "kill", "id", "none"},
		{"do", "holder", "token", "none"},
		{"do", "set", "knobs", "{"},
		{"do", "advance", "by", "soon"},
		{"do", "issue", "family", "myspace"},
	} {
		if a = do(wrong...); a.status != 400 || a.text("error") == "" {
			t.Errorf("%v: %d %s", wrong, a.status, a.raw)
		}
	}
	a = w.must(w.request("GET", "?format=json", nil, "", ""))
	grants, _ := a.body["grants"].([]any)
	if len(grants) != 1 {
		t.Fatalf("%d grants, want 1: %s", len(grants), a.raw)
	}
	for name, want := range map[string]any{"sandbox": true, "ahead": float64(7200)} {
		if a.body[name] != want {
			t.Fatalf("%s: %v, want %v", name, a.body[name], want)
		}
	}
	g, _ := grants[0].(map[string]any)
	for name, want := range map[string]any{
		"dead": "password changed", "refreshes": float64(1), "requests": float64(1),
	} {
		if g[name] != want {
			t.Errorf("%s: %v, want %v", name, g[name], want)
		}
	}
	if want := `"token":2`; !strings.Contains(a.raw, want) {
		t.Errorf("%s, want %s in it", a.raw, want)
	}
	res, err := http.Get(w.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the page: %d %v", res.StatusCode, res.Header)
	}
}

func TestTheConsentPageSaysWhatIsWrongAndSendsNobodyAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauth.Options{Callbacks: []string{"https://crm.example.com/oauth/"}})
	good := url.Values{
		"client_id": {"sandbox-x"}, "redirect_uri": {"https://crm.example.com/oauth/x/callback"},
		"response_type": {"code"}, "state": {"0123456789abcdef"},
		"scope": {"users.read"}, "code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"},
		"code_challenge_method": {"S256"},
	}
	at := func(change func(url.Values)) error {
		q := url.Values{}
		for key, values := range good {
			q[key] = values
		}
		change(q)
		_, err := consent.Give(t.Context(), http.DefaultClient, w.url+"x.com/i/oauth2/authorize?"+q.Encode(),
			consent.Choice{})
		return err
	}
	if err := at(func(url.Values) {}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(url.Values){
		"client":    func(q url.Values) { q.Set("client_id", "another") },
		"redirect":  func(q url.Values) { q.Set("redirect_uri", "https://elsewhere.example.com/oauth/") },
		"relative":  func(q url.Values) { q.Set("redirect_uri", "/oauth/x/callback") },
		"script":    func(q url.Values) { q.Set("redirect_uri", "javascript:alert(1)//crm.example.com") },
		"fragment":  func(q url.Values) { q.Set("redirect_uri", "https://crm.example.com/oauth/x#a") },
		"type":      func(q url.Values) { q.Set("response_type", "token") },
		"state":     func(q url.Values) { q.Set("state", "1") },
		"scope":     func(q url.Values) { q.Del("scope") },
		"challenge": func(q url.Values) { q.Del("code_challenge") },
		"method":    func(q url.Values) { q.Set("code_challenge_method", "plain") },
	} {
		if err := at(change); err == nil || !strings.Contains(err.Error(), "400") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The form is validated again, since it comes from a browser.
	bad := url.Values{}
	for key, values := range good {
		bad[key] = values
	}
	bad.Set("redirect_uri", "https://elsewhere.example.com/")
	if a := w.must(w.request("POST", "consent",
		url.Values{"family": {"x"}, "query": {bad.Encode()}, "person": {"Ada Lovelace"}}, "", "")); a.status != 400 {
		t.Errorf("the form: %d", a.status)
	}
}
