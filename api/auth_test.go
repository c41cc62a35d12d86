package api_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const goodPassword = "a perfectly fine password"

// tokens is the token response with its wire names.
type tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	User         struct {
		ID        id.ID  `json:"id"`
		Email     string `json:"email"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	} `json:"user"`
	Org struct {
		ID   id.ID  `json:"id"`
		Name string `json:"name"`
	} `json:"org"`
	Role string `json:"role"`
}

func (c *caller) tokens(path string, body any, status int) tokens {
	c.Helper()
	var got tokens
	c.do(http.MethodPost, "/api/v1/auth/"+path, body).want(c, status, "").into(c, &got)
	return got
}

// with returns the caller of a token response.
func (c *caller) with(got tokens) *caller {
	return &caller{service: c.service, Org: got.Org.ID, User: got.User.ID, Token: got.AccessToken}
}

// letters returns the queued mails to an address, newest first.
func (s *service) letters(to string) []mail.Message {
	s.Helper()
	var out []mail.Message
	rows, err := testkit.Pgx(s, s.DB.URL).Query(s.Context(),
		`SELECT org_id, id, subject, body FROM system_mail WHERE recipient = $1 AND body IS NOT NULL
			ORDER BY id DESC`, to)
	if err != nil {
		s.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			m          mail.Message
			org, which id.ID
			body       []byte
		)
		if err := rows.Scan(&org, &which, &m.Subject, &body); err != nil {
			s.Fatal(err)
		}
		if err := mail.Open(s.Deps.Box, org, which, body, &m); err != nil {
			s.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

var tokenIn = regexp.MustCompile(`http://api\.test/[a-z-]+\?token=(\S+)`)

// link returns the token in the newest mail to an address.
func (s *service) link(to string) string {
	s.Helper()
	all := s.letters(to)
	if len(all) == 0 {
		s.Fatalf("no mail to %s", to)
	}
	m := tokenIn.FindStringSubmatch(all[0].Text)
	if m == nil {
		s.Fatalf("no link in %q", all[0].Text)
	}
	return m[1]
}

func TestANewcomerSignsUpLogsInAndIsTheOwner(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.stranger()
	got := c.do(http.MethodPost, "/api/v1/auth/signup", map[string]any{
		"org_name": "Acme", "email": "Ada@Example.com", "password": goodPassword, "first_name": "Ada", "last_name": "L",
	}).want(t, 201, "")
	if got.Header.Get("Location") == "" {
		t.Error("no Location")
	}
	var up tokens
	got.into(t, &up)
	want := up
	want.TokenType, want.ExpiresIn, want.Role, want.Org.Name = "Bearer", 900, "owner", "Acme"
	want.User.Email, want.User.FirstName = "Ada@Example.com", "Ada"
	if diff := cmp.Diff(want, up); diff != "" {
		t.Errorf("signup (-want +got):\n%s", diff)
	}
	in := c.tokens("login", map[string]any{"email": "ada@example.com", "password": goodPassword}, 200)
	want = in
	want.User, want.Org, want.Role = up.User, up.Org, "owner"
	if diff := cmp.Diff(want, in); diff != "" {
		t.Errorf("login (-want +got):\n%s", diff)
	}
	if in.RefreshToken == up.RefreshToken {
		t.Error("login returns the refresh token of signup")
	}
	var me struct {
		User *struct{ ID id.ID }
		Org  struct{ Name string }
		Role string
		Plan string
	}
	c.with(in).do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 200, "").into(t, &me)
	if me.User == nil || me.User.ID != up.User.ID {
		t.Errorf("user %+v, want %s", me.User, up.User.ID)
	}
	expected := me
	expected.Org.Name, expected.Role, expected.Plan = "Acme", "owner", "trial"
	if diff := cmp.Diff(expected, me); diff != "" {
		t.Errorf("me (-want +got):\n%s", diff)
	}
	next := c.tokens("refresh", map[string]any{"refresh_token": in.RefreshToken}, 200)
	want = next
	want.User, want.Org = in.User, in.Org
	if diff := cmp.Diff(want, next); diff != "" {
		t.Errorf("refresh (-want +got):\n%s", diff)
	}
	if next.RefreshToken == in.RefreshToken {
		t.Error("refresh returns the old refresh token")
	}
	c.do(http.MethodPost, "/api/v1/auth/logout", map[string]any{"refresh_token": next.RefreshToken}).want(t, 204, "")
	c.do(http.MethodPost, "/api/v1/auth/refresh", map[string]any{"refresh_token": next.RefreshToken}).
		want(t, 401, "invalid_token")
	c.do(http.MethodPost, "/api/v1/auth/verify-email", map[string]any{"token": s.link("Ada@Example.com")}).
		want(t, 204, "")
	var verified bool
	if err := testkit.Pgx(s, s.DB.URL).QueryRow(t.Context(), `SELECT verified_at IS NOT NULL FROM app_user`).
		Scan(&verified); err != nil || !verified {
		t.Errorf("verified = %v, %v", verified, err)
	}
}

func TestASignupThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, func(d *api.Deps) { // this test is about the limits per address
		d.Auth = auth.New(auth.Options{System: d.System, App: d.DB, Box: d.Box, Issuer: "http://api.test"})
	})
	c := s.stranger()
	good := func() map[string]any {
		return map[string]any{"org_name": "Acme", "email": "ada@example.com", "password": goodPassword}
	}
	c.do(http.MethodPost, "/api/v1/auth/signup", good()).want(t, 201, "")
	for name, tc := range map[string]struct {
		spoil  func(map[string]any)
		status int
		code   string
		field  string
	}{
		"taken": {func(m map[string]any) { m["email"] = "ADA@example.com" }, 409, "email_taken", ""},
		"no org": {func(m map[string]any) {
			delete(m, "org_name")
		}, 422, "validation_failed", "#/org_name required"},
		"blank org": {func(m map[string]any) {
			m["org_name"] = "  "
		}, 422, "validation_failed", "#/org_name required"},
		"no address": {func(m map[string]any) {
			m["email"] = "ada"
		}, 422, "validation_failed", "#/email invalid_email"},
		"short password": {func(m map[string]any) {
			m["password"] = "x1y2z3"
		}, 422, "validation_failed", "#/password too_short"},
		"common password": {func(m map[string]any) {
			m["password"] = "Password1"
		}, 422, "validation_failed", "#/password too_common"},
		"NUL in the address": {func(m map[string]any) {
			m["email"] = "a\x00da@example.com"
		}, 422, "validation_failed", ""},
		"unknown member": {func(m map[string]any) { m["role"] = "owner" }, 422, "validation_failed", ""},
	} {
		m := good()
		tc.spoil(m)
		got := c.do(http.MethodPost, "/api/v1/auth/signup", m).want(t, tc.status, tc.code)
		if tc.field != "" && got.field() != tc.field {
			t.Errorf("%s: field %q, want %q", name, got.field(), tc.field)
		}
		if bytes.Contains(got.Body, []byte(m["password"].(string))) {
			t.Errorf("%s: the answer repeats the password", name)
		}
	}
	for range 25 {
		if got := c.do(http.MethodPost, "/api/v1/auth/signup", good()); got.Status == 429 {
			if got.Header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
			return
		}
	}
	t.Error("asking for taken addresses is not throttled")
}

func TestWhereSignupIsOffNobodySignsUp(t *testing.T) {
	t.Parallel()
	c := start(t, func(d *api.Deps) { d.SignupOff = true }).stranger()
	c.do(http.MethodPost, "/api/v1/auth/signup",
		map[string]any{"org_name": "A", "email": "a@example.com", "password": goodPassword}).
		want(t, 403, "signup_closed")
}

func TestAFailedLoginAnswersTheSameForEverybodyAndIsThrottled(t *testing.T) {
	t.Parallel()
	c := start(t).stranger()
	c.tokens("signup", map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	bare := regexp.MustCompile(`"(request_id|instance)":"[^"]*"`)
	var first string
	for _, body := range []map[string]any{
		{"email": "ada@example.com", "password": "wrong wrong"},
		{"email": "nobody@example.com", "password": "wrong wrong"},
		{"email": "ada@example.com", "password": goodPassword, "org_id": id.New()},
	} {
		got := c.do(http.MethodPost, "/api/v1/auth/login", body).want(t, 401, "invalid_credentials")
		if h := got.Header.Get("WWW-Authenticate"); h != `Bearer realm="funnelwork"` {
			t.Errorf("WWW-Authenticate %q", h)
		}
		text := bare.ReplaceAllString(string(got.Body), "")
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%v: %s, others %s", body, text, first)
		}
	}
	for range 20 {
		got := c.do(http.MethodPost, "/api/v1/auth/login",
			map[string]any{"email": "ada@example.com", "password": "wrong wrong"})
		if got.Status == 429 {
			if got.code() != "rate_limited" || got.Header.Get("Retry-After") == "" {
				t.Errorf("%v %s", got.Header, got.Body)
			}
			return
		}
	}
	t.Error("not throttled")
}

func TestAForgottenPasswordIsReplacedByMail(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.stranger()
	before := c.tokens("signup",
		map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	known := c.do(http.MethodPost, "/api/v1/auth/forgot-password", map[string]any{"email": "ADA@example.com"}).
		want(t, 202, "")
	unknown := c.do(http.MethodPost, "/api/v1/auth/forgot-password", map[string]any{"email": "eve@example.com"}).
		want(t, 202, "")
	if !bytes.Equal(known.Body, unknown.Body) {
		t.Errorf("%s for a known address, %s for another", known.Body, unknown.Body)
	}
	if n := len(s.letters("eve@example.com")); n != 0 {
		t.Errorf("%d mails to somebody unknown", n)
	}
	token := s.link("ada@example.com")
	const fresh = "quite another password"
	c.do(http.MethodPost, "/api/v1/auth/reset-password", map[string]any{"token": token, "password": "short"}).
		want(t, 422, "validation_failed")
	c.do(http.MethodPost, "/api/v1/auth/reset-password", map[string]any{"token": token, "password": fresh}).
		want(t, 204, "")
	c.do(http.MethodPost, "/api/v1/auth/reset-password", map[string]any{"token": token, "password": fresh}).
		want(t, 422, "link_expired")
	c.do(http.MethodPost, "/api/v1/auth/refresh", map[string]any{"refresh_token": before.RefreshToken}).
		want(t, 401, "invalid_token")
	c.do(http.MethodPost, "/api/v1/auth/login", map[string]any{"email": "ada@example.com", "password": goodPassword}).
		want(t, 401, "invalid_credentials")
	in := c.tokens("login", map[string]any{"email": "ada@example.com", "password": fresh}, 200)
	me := c.with(in)
	me.do(http.MethodPost, "/api/v1/auth/change-password",
		map[string]any{"old_password": "wrong wrong", "new_password": goodPassword}).want(t, 422, "validation_failed")
	me.do(http.MethodPost, "/api/v1/auth/change-password",
		map[string]any{"old_password": fresh, "new_password": goodPassword}).want(t, 204, "")
	c.tokens("login", map[string]any{"email": "ada@example.com", "password": goodPassword}, 200)
	c.do(http.MethodPost, "/api/v1/auth/change-password",
		map[string]any{"old_password": fresh, "new_password": goodPassword}).want(t, 401, "unauthorized")
	if acts := me.acts(); !strings.HasPrefix(acts, "user.password_changed user.password_reset organization.created") {
		t.Errorf("audit log: %s", acts)
	}
}

func TestTheSetOfPublicKeysMayBeKeptAndHoldsNoSecret(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.stranger().do(http.MethodGet, "/.well-known/jwks.json", nil).want(t, 200, "")
	var set struct{ Keys []map[string]string }
	got.into(t, &set)
	if len(set.Keys) != 1 {
		t.Fatalf("%d keys, want 1: %s", len(set.Keys), got.Body)
	}
	key := set.Keys[0]
	type facts struct{ Type, Curve, Algorithm, Private string }
	if diff := cmp.Diff(facts{"OKP", "Ed25519", "EdDSA", ""},
		facts{key["kty"], key["crv"], key["alg"], key["d"]}); diff != "" {
		t.Errorf("the key (-want +got):\n%s", diff)
	}
	if key["x"] == "" {
		t.Errorf("the key has no public part: %s", got.Body)
	}
	if got.Header.Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("Cache-Control %q", got.Header.Get("Cache-Control"))
	}
}

func TestATokenOfAnotherKindIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	s := start(t)
	up := s.stranger().tokens("signup",
		map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	for name, token := range map[string]string{
		"refresh token": up.RefreshToken, "nonsense": "x",
		"key of nobody": "fw_" + strings.Repeat("A", 64),
	} {
		c := &caller{service: s, Token: token}
		got := c.do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 401, "invalid_token")
		if !strings.Contains(got.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: WWW-Authenticate %q", name, got.Header.Get("WWW-Authenticate"))
		}
	}
	s.stranger().do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 401, "unauthorized")
}

func TestAReusedRefreshTokenIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.stranger()
	up := c.tokens("signup", map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	second := c.tokens("refresh", map[string]any{"refresh_token": up.RefreshToken}, 200)
	c.tokens("refresh", map[string]any{"refresh_token": second.RefreshToken}, 200)
	c.do(http.MethodPost, "/api/v1/auth/refresh", map[string]any{"refresh_token": up.RefreshToken}).
		want(t, 401, "invalid_token")
	next := c.with(c.tokens("login", map[string]any{"email": "ada@example.com", "password": goodPassword}, 200))
	if acts := next.acts(); !strings.HasPrefix(acts, "session.reuse_detected") {
		t.Errorf("audit log: %s", acts)
	}
}

// acts returns the actions in the caller's audit log, newest first.
func (c *caller) acts() string {
	c.Helper()
	var l struct{ Data []struct{ Action string } }
	c.do(http.MethodGet, "/api/v1/audit-log", nil).want(c, 200, "").into(c, &l)
	var all []string
	for _, a := range l.Data {
		all = append(all, a.Action)
	}
	return strings.Join(all, " ")
}

// eventsOf returns the types of an org's events, oldest first.
func (c *caller) eventsOf() []string {
	c.Helper()
	var all []string
	rows, err := testkit.Pgx(c, c.DB.URL).Query(c.Context(), `SELECT type FROM event WHERE org_id = $1 ORDER BY seq`,
		c.Org)
	if err != nil {
		c.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			c.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}
