package browser

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// refreshes is how often two tabs renew their access token.
var refreshes = flag.Int64("refreshes", 40, "how often two tabs renew their token")

// actsWithin is how soon a tab must act on what happened to its session or role elsewhere.
const actsWithin = 2 * time.Second

// shortTokens is a proxy in front of the API that says of each access token that it ends soon, so that the console
// renews it at once. It counts the renewals.
type shortTokens struct {
	*httptest.Server
	renewed, refused atomic.Int64
}

// newShortTokens starts a proxy. The console takes a token of fewer than 30 seconds for used up; these have 31.
func newShortTokens(t *testing.T, api string) *shortTokens {
	t.Helper()
	to, err := url.Parse(api)
	if err != nil {
		t.Fatal(err)
	}
	s := &shortTokens{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host              // which the Origin has to equal
			r.Out.Header.Del("Accept-Encoding") // the answer is read here
		},
		FlushInterval:  -1,
		ModifyResponse: s.shorten,
	}
	s.Server = httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s
}

// shorten changes the end of the token in the answers of the console's sign-in and renewal.
func (s *shortTokens) shorten(res *http.Response) error {
	path := res.Request.URL.Path
	if path != "/api/v1/auth/console/refresh" && path != "/api/v1/auth/console/login" {
		return nil
	}
	if strings.HasSuffix(path, "/refresh") {
		if res.StatusCode == http.StatusOK {
			s.renewed.Add(1)
		} else if res.StatusCode >= 400 {
			s.refused.Add(1)
		}
	}
	if res.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	answer["expires_in"] = 31
	if body, err = json.Marshal(answer); err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	res.ContentLength = int64(len(body))
	return nil
}

// isSignedIn is an expression that is true while the tab shows the console and asks for no password.
const isSignedIn = `location.pathname.startsWith('/app') && document.querySelector('input[type=password]') === null`

func TestTwoTabsThatRenewTheirTokenOftenStaySignedIn(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	short := newShortTokens(t, s.api)
	first := b.session()
	b.signIn(first, short.URL, "owner")
	before := short.refused.Load() // the page asked for a session before there was one
	second := b.beside(first)
	hands := []*hand{{T: t, tab: first}, {T: t, tab: second}}
	for _, h := range hands {
		h.open(short.URL+"/app/contacts", "#main h1")
	}
	started, from := time.Now(), short.renewed.Load()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for last, at := from, time.Now(); short.renewed.Load() < from+*refreshes; <-tick.C {
		if now := short.renewed.Load(); now > last {
			last, at = now, time.Now()
		}
		if time.Since(at) > patience {
			t.Fatalf("no renewal for %v after %d, at %s", patience, last-from, hands[0].page())
		}
		for i, h := range hands {
			if !ask[bool](h, isSignedIn) {
				t.Fatalf("tab %d is signed out after %d renewals, at %s", i+1, short.renewed.Load()-from, h.page())
			}
		}
	}
	took := time.Since(started)
	if refused := short.refused.Load() - before; refused > 0 {
		t.Errorf("%d renewals were refused", refused)
	}
	for _, h := range hands { // both can still write
		h.press("c")
		h.wait(`document.activeElement?.type === 'email'`)
		h.press("tab"+strconv.FormatInt(time.Now().UnixNano(), 36)+"@example.com", tabKey, "Tab", tabKey, "Two", enter)
		h.see("Tab Two created")
	}
	var log struct {
		Data []struct{ Action string }
	}
	s.asOwner(t).into(&log, http.MethodGet, "/api/v1/audit-log?limit=200", nil)
	for _, entry := range log.Data {
		if entry.Action == "session.reuse_detected" {
			t.Error("a refresh token was used twice")
		}
	}
	t.Logf("%d renewals in %v", short.renewed.Load()-from, took.Round(time.Millisecond))
}

func TestARoleTakenAwayActsInAnOpenTab(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	s.people(t)
	h := &hand{T: t, tab: b.session()}
	b.signIn(h.tab, s.api, "admin")
	h.open(s.api+settings+"/integrations/webhooks", "#main h1")
	h.wait(`__hand.byName('New webhook') !== undefined`)
	owner := s.asOwner(t)
	at := time.Now()
	owner.into(nil, http.MethodPatch, "/api/v1/members/"+owner.member(email("admin")), map[string]any{"role": "viewer"})
	h.wait(`__hand.byName('New webhook') === undefined &&
		document.body.innerText.includes('Your role in') && document.body.innerText.includes('viewer')`)
	h.within(at, "a role taken away")
	if !ask[bool](h, isSignedIn) {
		t.Errorf("the tab is signed out, at %s", h.page())
	}
}

func TestASessionEndedElsewhereActsInAnOpenTab(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	h := &hand{T: t, tab: b.session()}
	b.signIn(h.tab, s.api, "owner")
	h.open(s.api+"/app/contacts", "#main h1")
	h.press("c")
	h.wait(`document.activeElement?.type === 'email'`)
	h.press("draft@example.com")
	owner := s.asOwner(t)
	var sessions struct {
		Data []struct {
			ID      string
			Current bool
		}
	}
	owner.into(&sessions, http.MethodGet, "/api/v1/auth/sessions", nil)
	ended := 0
	at := time.Now()
	for _, one := range sessions.Data {
		if !one.Current {
			owner.into(nil, http.MethodDelete, "/api/v1/auth/sessions/"+one.ID, nil)
			ended++
		}
	}
	if ended == 0 {
		t.Fatal("no other session is listed")
	}
	h.see("Sign in to go on")
	h.within(at, "a session ended elsewhere")
	h.wait(`document.activeElement?.matches('input[type=password]')`)
	h.press(consolePassword, enter)
	h.wait(`document.querySelector('input[type=password]') === null`)
	h.wait(`document.querySelector('input[type=email]')?.value === 'draft@example.com'`)
}

func TestSigningOutActsInEveryTab(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	first := b.session()
	b.signIn(first, s.api, "owner")
	second := b.beside(first)
	one, other := &hand{T: t, tab: first}, &hand{T: t, tab: second}
	for _, h := range []*hand{one, other} {
		h.open(s.api+"/app/contacts", "#main h1")
	}
	one.chord("k")
	one.wait(`document.activeElement?.matches('[role=dialog] input')`)
	at := time.Now()
	one.press("sign out", enter)
	other.wait(`location.pathname === '/login'`)
	other.within(at, "a sign-out in another tab")
}

// within fails the test if at is longer ago than actsWithin.
func (h *hand) within(at time.Time, what string) {
	h.Helper()
	took := time.Since(at)
	h.Logf("%s acts after %v", what, took.Round(time.Millisecond))
	if took > actsWithin {
		h.Errorf("%s acts after %v, want %v at most", what, took, actsWithin)
	}
}

// member returns the id of the member with an email.
func (c *client) member(email string) string {
	c.Helper()
	var list struct {
		Data []struct{ ID, Email string }
	}
	c.into(&list, http.MethodGet, "/api/v1/members?limit=200", nil)
	for _, one := range list.Data {
		if one.Email == email {
			return one.ID
		}
	}
	c.Fatalf("no member %s", email)
	return ""
}
