package api_test

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// hit is a request without a credential.
type hit struct {
	method, path, body string
	header             []string
}

// with returns the request with another path.
func (h hit) with(path string) hit {
	h.path = path
	return h
}

// signing is a public operation whose requests have a token or a signature.
type signing struct {
	valid   func() hit
	many    int // how many valid requests are sent
	invalid []hit
}

// hits sends a request from an address, which the proxy of the test names.
func (s *service) hits(from string, h hit) (status int, header http.Header, body string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), h.method, s.URL+h.path, strings.NewReader(h.body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(h.header); i += 2 {
		req.Header.Set(h.header[i], h.header[i+1])
	}
	req.Header.Set("X-Forwarded-For", from)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res.StatusCode, res.Header, string(all)
}

// formType is the media type of the pages' forms.
var formType = []string{"Content-Type", "application/x-www-form-urlencoded"}

// always returns a function that returns h.
func always(h hit) func() hit { return func() hit { return h } }

// signed returns an example of each operation that is public and signed, by id.
func (s *service) signed() map[string]signing {
	s.Helper()
	m := correspond(s)
	all := map[string]signing{}
	m.signedLinks(all)
	m.signedTracking(all)
	m.signedMail(all)
	m.signedStripe(all)
	m.signedOAuth(all)
	return all
}

// forged returns a token with another MAC.
func forged(token string) string {
	return token[:len(token)-4] + map[bool]string{true: "BBBB", false: "AAAA"}[strings.HasSuffix(token, "AAAA")]
}

// spoiled returns a request with tokens that nobody has issued, whose path is prefix and a token.
func (h hit) spoiled(prefix string) []hit {
	token := strings.TrimPrefix(h.path, prefix)
	other := base64.RawURLEncoding.EncodeToString(idBytes())
	return []hit{
		h.with(prefix + forged(token)), h.with(prefix + "preview"),
		h.with(prefix + other[:min(len(other), len(token))] + token[min(len(other), len(token)):]),
		h.with(prefix + strings.Repeat("a", 300)),
	}
}

// signedLinks adds the pages that mails lead to, and files.
func (m *correspondence) signedLinks(all map[string]signing) {
	m.Helper()
	contact, err := id.Parse(m.contact.ID)
	if err != nil {
		m.Fatal(err)
	}
	var key orgkey.Pair
	if err := m.DB.App.Tx(m.Context(), m.Org, func(tx *postgres.Tx) (err error) {
		key, err = orgkey.Of(m.Context(), tx, m.Deps.Box)
		return err
	}); err != nil {
		m.Fatal(err)
	}
	link := templates.Link{Org: m.Org, Contact: contact}
	for _, page := range []struct{ noun, verb, path, purpose, form string }{
		{"unsubscription", "confirm", templates.UnsubscribePath, templates.Unsubscribe, oneClick},
		{"preferences", "save", templates.PreferencesPath, templates.Unsubscribe, "mails=none"},
		{"subscription", "confirm", templates.SubscribePath, templates.Subscribe, oneClick},
	} {
		get := hit{method: "GET", path: page.path + link.Token(key.Org, page.purpose)}
		all[page.noun+".show"] = signing{always(get), 700, get.spoiled(page.path)}
		post := hit{method: "POST", path: get.path, body: page.form, header: formType}
		all[page.noun+"."+page.verb] = signing{always(post), 700, post.spoiled(page.path)}
	}
	at := m.do("POST", exportsPath, `{"format":"csv"}`).want(m, 202, "").Header.Get("Location")
	m.workFiles()
	var made struct {
		URL string `json:"download_url"`
	}
	m.do("GET", at, nil).want(m, 200, "").into(m, &made)
	file := hit{method: "GET", path: strings.TrimPrefix(made.URL, m.Deps.PublicURL)}
	all["files.download"] = signing{always(file), 700, file.spoiled("/api/v1/files/")}
}

// signedTracking adds the pixel and a link of an email.
func (m *correspondence) signedTracking(all map[string]signing) {
	m.Helper()
	var tracked struct{ HTML string }
	m.do("POST", emailsPath, `{"contact_id":"`+m.contact.ID+`","mailbox_id":"`+m.mailbox+`","subject":"Hi",`+
		`"html":"<a href='https://shop.example/'>Shop</a>","tracking":{"opens":true,"clicks":true}}`).
		want(m, 201, "").into(m, &tracked)
	for name, path := range map[string]string{"email_opens.record": "/t/o/", "email_links.follow": "/t/c/"} {
		get := hit{method: "GET", path: m.addressIn(tracked.HTML, path)}
		all[name] = signing{always(get), 700, get.spoiled(path)}
	}
}

// signedMail adds incoming mails and the events of a provider.
func (m *correspondence) signedMail(all map[string]signing) {
	m.Helper()
	mail := hit{
		method: "POST", path: mailboxes.InboundPath + m.token, body: "From: a@b.example\r\n\r\nHello",
		header: []string{"Content-Type", "message/rfc822"},
	}
	all["inbound.receive_email"] = signing{always(mail), 700, mail.spoiled(mailboxes.InboundPath)}
	m.provide("mailgun")
	const path = "/inbound/events/mailgun/"
	event := hit{
		method: "POST", path: path + m.token, body: m.mailgun("t1", "delivered", ""),
		header: []string{"Content-Type", "application/json"},
	}
	unsigned, malformed := event, event
	unsigned.body = strings.ReplaceAll(event.body, `"token":"t1"`, `"token":"t2"`)
	malformed.body = "{"
	all["inbound.receive_events"] = signing{
		always(event), 700, append(event.spoiled(path), unsigned, malformed, event.with("/inbound/events/ses/"+m.token),
			event.with("/inbound/events/nobody/"+m.token)),
	}
}

// signedStripe adds the payment processor's events, and the return of a browser from it.
func (m *correspondence) signedStripe(all map[string]signing) {
	m.Helper()
	if _, err := m.sync().Publish(m.Context(), false); err != nil {
		m.Fatal(err)
	}
	seller := m.signup().subscribe("white_label_pro")
	out, err := m.Stripe.Outbox(m.Context(), 1)
	if err != nil || len(out) == 0 {
		m.Fatalf("%d events, %v", len(out), err)
	}
	for op, at := range map[string][2]string{
		"stripe.receive_event":         {"/billing/stripe/webhook", m.StripeSecret},
		"stripe.receive_connect_event": {"/billing/stripe/connect-webhook", m.ConnectSecret},
	} {
		signed := func(secret string, when time.Time) hit {
			return hit{
				method: "POST", path: at[0], body: string(out[0].Body),
				header: []string{"Stripe-Signature", stripe.Sign(secret, when, out[0].Body)},
			}
		}
		unsigned := signed("", time.Now())
		unsigned.header = nil
		large := signed(at[1], time.Now())
		large.body = strings.Repeat(" ", 300<<10)
		all[op] = signing{
			func() hit { return signed(at[1], time.Now()) }, 700,
			[]hit{signed("whsec_other", time.Now()), signed(at[1], time.Now().Add(-time.Hour)), unsigned, large},
		}
	}
	link, cookie := seller.onboarding("Origin", "http://api.test")
	refresh, back := m.addresses(link)
	for op, address := range map[string]string{
		"connect.finish_onboarding": back, "connect.refresh_onboarding": refresh,
	} {
		to, err := url.Parse(address)
		if err != nil {
			m.Fatal(err)
		}
		get := hit{method: "GET", path: to.RequestURI(), header: []string{"Cookie", cookie}}
		all[op] = signing{always(get), 5, []hit{
			get.with(to.Path + "?state=" + forged(to.Query().Get("state"))), get.with(to.Path),
			get.with(to.Path + "?state=x"),
			get.with(to.Path + "?state=" + strings.Repeat("a", 3000)),
		}}
	}
}

// signedOAuth adds the return of a browser from a login, and the notices of Meta.
func (m *correspondence) signedOAuth(all map[string]signing) {
	m.Helper()
	returned := func() hit {
		b := m.browser(false)
		return hit{method: "GET", path: b.consent(b.connect("social", "x", home), consent.Choice{})}
	}
	callback := hit{method: "GET"}
	all["oauth.callback"] = signing{returned, 5, []hit{
		callback.with("/oauth/x/callback?code=c&state=fo_" + strings.Repeat("A", 64)),
		callback.with("/oauth/x/callback"),
		callback.with("/oauth/nobody/callback?code=c&state=x"),
		callback.with("/oauth/x/callback?state=" + strings.Repeat("a", 300)),
	}}
	for _, family := range []string{"facebook", "instagram"} {
		_, secret := oauth.Client(family)
		notice := func(path, secret string) hit {
			signed := url.Values{"signed_request": {consent.SignedRequest(secret, "nobody", time.Now())}}
			return hit{method: "POST", path: "/oauth/" + family + path, body: signed.Encode(), header: formType}
		}
		for op, path := range map[string]string{
			".receive_deauthorization": "/deauthorize", ".receive_erasure_request": "/data-deletion",
		} {
			unsigned := notice(path, secret)
			unsigned.body = "a=b"
			all[family+op] = signing{
				func() hit { return notice(path, secret) }, 700, []hit{notice(path, "other"), unsigned},
			}
		}
		var erasure struct {
			Code string `json:"confirmation_code"`
		}
		m.noticed("/oauth/"+family+"/data-deletion", consent.SignedRequest(secret, "nobody", time.Now())).
			want(m, 200, "").into(m, &erasure)
		prefix := "/oauth/" + family + "/data-deletion/"
		get := hit{method: "GET", path: prefix + erasure.Code}
		all[family+".get_erasure"] = signing{always(get), 700, get.spoiled(prefix)}
	}
}

// limitedAsAWhole lists the public operations whose requests all count against their address: logins and passwords,
// whose checks are expensive, and what has neither a token nor a signature.
var limitedAsAWhole = []string{
	"auth.accept_invitation", "auth.forgot_password", "auth.list_public_keys", "auth.login", "auth.logout",
	"auth.refresh", "auth.reset_password", "auth.signup", "auth.verify_email", "console.login",
	"console.logout", "console.refresh",
	"console.switch_org", "white_label.get_public_brand", "white_label.get_public_logo",
}

// TestOnlyFailedTokensAndSignaturesCountAgainstAnAddress sends the valid and invalid requests of each operation from an
// address of its own. One address may stand for an office or for a provider's proxies.
func TestOnlyFailedTokensAndSignaturesCountAgainstAnAddress(t *testing.T) {
	t.Parallel()
	s := start(t, func(d *api.Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	examples := s.signed()
	var signed, whole []string
	for _, o := range s.App.Ops {
		switch {
		case o.Need != httpx.Public:
		case o.Signed:
			signed = append(signed, o.ID)
		default:
			whole = append(whole, o.ID)
		}
	}
	slices.Sort(signed)
	slices.Sort(whole)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(examples)), signed); diff != "" {
		t.Errorf("signed operations (-examples +service):\n%s", diff)
	}
	if diff := cmp.Diff(limitedAsAWhole, whole); diff != "" {
		t.Errorf("operations that count each request (-want +service):\n%s", diff)
	}
	for i, name := range signed {
		e := examples[name]
		t.Run(name, func(t *testing.T) { s.floods(t, "2001:db8:0:"+strconv.FormatInt(int64(i), 16), &e) })
	}
}

// floods sends the requests of an operation from the /64 of a network of IPv6.
func (s *service) floods(t *testing.T, network string, e *signing) {
	t.Helper()
	host := 0
	from := func() string {
		host++
		return network + "::" + strconv.FormatInt(int64(host), 16)
	}
	valid := func(n int) {
		t.Helper()
		for range n {
			if status, _, body := s.hits(from(), e.valid()); status >= 400 {
				t.Fatalf("a valid request: %d %s", status, body)
			}
		}
	}
	valid(e.many)
	began := time.Now()
	for n := range 600 {
		status, _, body := s.hits(from(), e.invalid[n%len(e.invalid)])
		// A request whose reply from Redis is lost may count twice: a busy machine refuses earlier.
		if status == 429 && n < 300 || status >= 500 {
			t.Fatalf("the invalid request %d: %d %s", n+1, status, body)
		}
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Skipf("600 requests took %v, so the first ones do not count any more", took)
	}
	for n, h := range e.invalid {
		status, header, body := s.hits(from(), h)
		if status != 429 || header.Get("Retry-After") == "" ||
			header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, `"rate_limited"`) {
			t.Errorf("the invalid request %d over the limit: %d %v %s", n, status, header, body)
		}
	}
	valid(min(e.many, 20))
	if status, _, _ := s.hits("192.0.2.1", e.invalid[0]); status == 429 {
		t.Error("another address is refused")
	}
}

// idBytes returns the bytes of a new id, such as that of an org.
func idBytes() []byte {
	one := id.New()
	return one[:]
}
