package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// invitedBody is the response to an invitation.
type invitedBody struct {
	ID   id.ID
	Role string
	Mail string
}

// asks sends one invitation and returns the status and the decoded body.
func (c *caller) asks(email, role string) (int, invitedBody) {
	c.Helper()
	var b invitedBody
	got := c.do(http.MethodPost, members, map[string]any{"email": email, "role": role})
	if got.Status < 300 {
		got.into(c, &b)
	}
	return got.Status, b
}

// daysPass moves the mails counted by invitation limits into the past.
func (s *service) daysPass() {
	s.Helper()
	conn := testkit.Pgx(s, s.DB.URL)
	for _, sql := range []string{
		`UPDATE invitation_count SET created_at = created_at - interval '24 hours'`,
		`UPDATE invitation_mail SET sent_at = sent_at - interval '24 hours'`,
	} {
		if _, err := conn.Exec(s.Context(), sql); err != nil {
			s.Fatal(err)
		}
	}
}

func TestAnAddressGetsThreeInvitationsADayAndTheInvitationStaysTheSame(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	boss := s.signup()
	status, first := boss.asks("Bob@example.com", "member")
	if status != 201 || first.Mail != "sent" {
		t.Fatalf("the first: %d %+v", status, first)
	}
	for i := range 24 {
		status, again := boss.asks("bob@example.com", "viewer")
		want := "withheld"
		if i < 2 {
			want = "sent"
		}
		if status != 200 {
			t.Errorf("again %d: status %d, want 200", i+1, status)
		}
		if diff := cmp.Diff(invitedBody{ID: first.ID, Role: "viewer", Mail: want}, again); diff != "" {
			t.Errorf("again %d (-want +got):\n%s", i+1, diff)
		}
	}
	if n := s.count("system_mail WHERE lower(recipient) = 'bob@example.com'"); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
	// The last mailed link still works after the person was invited again without a mail.
	var joined tokens
	s.stranger().do(http.MethodPost, "/api/v1/auth/accept-invite",
		map[string]any{"token": s.link("bob@example.com"), "password": goodPassword}).want(t, 200, "").into(t, &joined)
	if joined.Role != "viewer" {
		t.Errorf("joined as %s", joined.Role)
	}
}

func TestTheMailsToOneAddressAreCountedOverAllOrgsAndOwnersOfClients(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	ada.client(`{"name":"Shop","owner_email":"bob@example.com"}`)
	for range 2 {
		if status, b := s.signup().asks("BOB@example.com", "member"); status != 201 || b.Mail != "sent" {
			t.Errorf("%d %+v", status, b)
		}
	}
	last := s.signup()
	if status, b := last.asks("bob@example.com", "member"); status != 201 || b.Mail != "withheld" {
		t.Errorf("the fourth: %d %+v, want 201 withheld", status, b)
	}
	var client struct{ Mail string }
	ada.do(http.MethodPost, clientsPath, `{"name":"Shop 2","owner_email":"bob@example.com"}`).want(t, 201, "").
		into(t, &client)
	if client.Mail != "withheld" {
		t.Errorf("a client's owner: mail %q, want withheld", client.Mail)
	}
	if n := s.count("system_mail WHERE lower(recipient) = 'bob@example.com'"); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
	if status, b := last.asks("eve@example.com", "member"); status != 201 || b.Mail != "sent" {
		t.Errorf("another address: %d %+v", status, b)
	}
	s.daysPass()
	if status, b := last.asks("bob@example.com", "member"); status != 200 || b.Mail != "sent" {
		t.Errorf("a day later: %d %+v, want 200 sent", status, b)
	}
}

func TestAnOrgInvitesFiftyTimesADay(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	const clients = 3
	for i := range clients {
		ada.client(fmt.Sprintf(`{"name":"Shop","owner_email":"owner%d@example.com"}`, i))
	}
	var (
		wg     sync.WaitGroup
		status [70]int
	)
	for i := range status {
		wg.Go(func() {
			got, err := ada.try(http.MethodPost, members,
				map[string]any{"email": fmt.Sprintf("p%d@example.com", i), "role": "viewer"})
			if status[i] = got.Status; err != nil || got.Status == 429 && got.code() != "invitation_limit" {
				t.Errorf("%d %s, %v", got.Status, got.code(), err)
			}
		})
	}
	wg.Wait()
	made := 0
	for _, one := range status {
		if one == 201 {
			made++
		} else if one != 429 {
			t.Errorf("status %d", one)
		}
	}
	if made != 50-clients {
		t.Errorf("%d invitations beside those of %d owners, want %d", made, clients, 50-clients)
	}
	if n := s.count("system_mail WHERE recipient LIKE 'p%'"); n != made {
		t.Errorf("%d mails of %d invitations", n, made)
	}
	refused := ada.do(http.MethodPost, members, map[string]any{"email": "late@example.com", "role": "viewer"}).
		want(t, 429, "invitation_limit")
	wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	if err != nil {
		t.Fatalf("Retry-After: %v", err)
	}
	if wait < 23*3600 || wait > 24*3600 {
		t.Errorf("Retry-After %d, want most of a day", wait)
	}
	ada.do(http.MethodPost, clientsPath, `{"name":"Shop","owner_email":"late@example.com"}`).
		want(t, 429, "invitation_limit")
	if n := s.count("org WHERE parent_org_id = $1", ada.Org); n != clients {
		t.Errorf("%d clients, want %d: the refused one must not be made", n, clients)
	}
	// A refusal does not count against the address.
	for i := range 3 {
		if status, b := s.signup().asks("late@example.com", "member"); status != 201 || b.Mail != "sent" {
			t.Errorf("another org's invitation %d: %d %+v", i+1, status, b)
		}
	}
	s.daysPass()
	ada.do(http.MethodPost, members, map[string]any{"email": "later@example.com", "role": "viewer"}).want(t, 201, "")
}

func TestInvitationsOfOneAddressAtOnceSendThreeMails(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	var wg sync.WaitGroup
	for i := range 24 {
		c := here.signup()
		if i%2 == 0 {
			c = c.at(there)
		}
		for range 2 {
			wg.Go(func() {
				got, err := c.try(http.MethodPost, members,
					map[string]any{"email": "bob@example.com", "role": "viewer"})
				if err != nil || got.Status != 200 && got.Status != 201 {
					t.Errorf("%d %s, %v", got.Status, got.Body, err)
				}
			})
		}
	}
	wg.Wait()
	if n := here.count("system_mail WHERE recipient = 'bob@example.com'"); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
}

func TestAStrangerWhoAsksForResetsSilencesNobody(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) {
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	c := s.stranger()
	c.tokens("signup", map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	forgot := func(ip string) {
		t.Helper()
		c.do(http.MethodPost, "/api/v1/auth/forgot-password", map[string]any{"email": "ada@example.com"},
			"X-Forwarded-For", ip).want(t, 202, "")
	}
	resets := func() int { return s.count("system_mail WHERE subject LIKE 'Reset%'") }
	forgot("198.51.100.7")
	own := s.link("ada@example.com")
	for range 12 {
		forgot("203.0.113.1")
	}
	if n := resets(); n != 6 {
		t.Errorf("%d mails after the victim's and a stranger's twelve calls, want 6", n)
	}
	forgot("198.51.100.7")
	if n := resets(); n != 7 {
		t.Errorf("%d mails after the victim's second call, want 7", n)
	}
	// The first link still works after thirteen further requests.
	c.do(http.MethodPost, "/api/v1/auth/reset-password",
		map[string]any{"token": own, "password": "quite another password"}).want(t, 204, "")
	for i := range 40 {
		forgot(fmt.Sprintf("192.0.2.%d", i))
	}
	if n := resets(); n != 20 {
		t.Errorf("%d mails in a day, want 20", n)
	}
}

// TestANameOfMoreThanOneLineIsRefused tests every field for a name, label or address of one line.
func TestANameOfMoreThanOneLineIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	boss := s.signup().subscribe("white_label_pro")
	shop := boss.client(`{"name":"Shop"}`)
	contact := boss.contact("a@example.com")
	boss.invite("bob@example.com", "member")
	invite := s.link("bob@example.com")
	var hook struct{ ID string }
	boss.do("POST", "/api/v1/webhooks", map[string]any{"url": "https://example.com/x", "events": []string{"*"}}).
		want(t, 201, "").into(t, &hook)
	signup := func(field string, v string) map[string]any {
		m := map[string]any{"org_name": "A", "email": "new@example.com", "password": goodPassword}
		m[field] = v
		return m
	}
	for _, bad := range []string{
		"a\r\nBcc: b@example.com", "a\nb", "a\rb", "a\tb", "a\x1bb", "a\x7fb", "a\u0085b",
		"a\u2028b", "a\u2029b",
	} {
		for _, tc := range []struct {
			method, path string
			body         any
			field        string
		}{
			{"PATCH", "/api/v1/org", map[string]any{"name": bad}, "#/name"},
			{
				"PATCH", "/api/v1/org",
				map[string]any{"settings": map[string]any{"stages": []string{"lead", bad}}},
				"#/settings/stages/1",
			},
			{"POST", "/api/v1/auth/signup", signup("org_name", bad), "#/org_name"},
			{"POST", "/api/v1/auth/signup", signup("first_name", bad), "#/first_name"},
			{"POST", "/api/v1/auth/signup", signup("last_name", bad), "#/last_name"},
			{"POST", "/api/v1/auth/signup", signup("email", bad+"@example.com"), "#/email"},
			{
				"POST", "/api/v1/auth/accept-invite",
				map[string]any{"token": invite, "password": goodPassword, "first_name": bad},
				"#/first_name",
			},
			{
				"POST", "/api/v1/auth/accept-invite",
				map[string]any{"token": invite, "password": goodPassword, "last_name": bad},
				"#/last_name",
			},
			{"PATCH", mePath, map[string]any{"first_name": bad}, "#/first_name"},
			{"PATCH", mePath, map[string]any{"last_name": bad}, "#/last_name"},
			{"POST", members, map[string]any{"email": bad + "@example.com", "role": "viewer"}, "#/email"},
			{"POST", "/api/v1/api-keys", map[string]any{"name": bad}, "#/name"},
			{"POST", clientsPath, map[string]any{"name": bad}, "#/name"},
			{"POST", clientsPath, map[string]any{"name": "B", "owner_email": bad + "@example.com"}, "#/owner_email"},
			{"PATCH", clientsPath + "/" + shop.ID, map[string]any{"name": bad}, "#/name"},
			{
				"POST", "/api/v1/webhooks",
				map[string]any{"url": "https://example.com/y", "events": []string{"*"}, "description": bad},
				"#/description",
			},
			{"PATCH", "/api/v1/webhooks/" + hook.ID, map[string]any{"description": bad}, "#/description"},
			{"PATCH", "/white-label", map[string]any{"brand_name": bad}, "#/brand_name"},
			{"PATCH", "/white-label", map[string]any{"support_email": bad + "@example.com"}, "#/support_email"},
			{"PATCH", contactsPath + "/" + contact.ID, map[string]any{"first_name": bad}, "#/first_name"},
			{"PATCH", contactsPath + "/" + contact.ID, map[string]any{"email": bad + "@example.com"}, "#/email"},
			{"PATCH", contactsPath + "/" + contact.ID, map[string]any{"source": bad}, "#/source"},
			{"PATCH", contactsPath + "/" + contact.ID, map[string]any{"tag": []string{bad}}, "#/tag/0"},
			{"POST", "/api/v1/crm/companies", map[string]any{"name": bad}, "#/name"},
			{"POST", "/api/v1/crm/deals", map[string]any{"name": bad}, "#/name"},
			{"POST", "/api/v1/crm/pipelines", map[string]any{"name": bad}, "#/name"},
			{"POST", "/api/v1/crm/tasks", map[string]any{"title": bad}, "#/title"},
			{"POST", "/api/v1/crm/segments", map[string]any{"name": bad, "kind": "static"}, "#/name"},
			{"POST", "/api/v1/crm/fields", map[string]any{"key": "k", "type": "string", "label": bad}, "#/label"},
			{"POST", "/api/v1/crm/fields", map[string]any{"key": bad, "type": "string"}, "#/key"},
		} {
			got := boss.do(tc.method, tc.path, tc.body)
			if got.Status != 422 || got.code() != "validation_failed" {
				t.Errorf("%s %s %s with %q: %d %s, want 422 validation_failed", tc.method, tc.path, tc.field, bad,
					got.Status, got.Body)
				continue
			}
			if have, _, _ := strings.Cut(got.field(), " "); have != tc.field {
				t.Errorf("%s %s with %q: the fault is about %s, want %s", tc.method, tc.path, bad, have, tc.field)
			}
		}
	}
}

func TestASignupUnderATakenAddressHashesNoPassword(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s := start(t, unlimited, func(d *api.Deps) {
		d.Auth = auth.New(auth.Options{
			System: d.System, App: d.DB, Box: d.Box, Issuer: "http://api.test", Unlimited: true,
			Metrics: auth.NewMetrics(reg),
		})
	})
	hashes := func() (n float64) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "funnelwork_auth_password_hashes_total" {
				n = f.GetMetric()[0].GetCounter().GetValue()
			}
		}
		return n
	}
	body := map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}
	s.stranger().tokens("signup", body, 201)
	before := hashes()
	s.stranger().do(http.MethodPost, "/api/v1/auth/signup", body).want(t, 409, "email_taken")
	s.stranger().do(http.MethodPost, "/api/v1/auth/reset-password",
		map[string]any{"token": "fl_" + strings.Repeat("A", 64), "password": goodPassword}).want(t, 422, "link_expired")
	if n := hashes() - before; n != 0 {
		t.Errorf("%v passwords were hashed for requests that cannot succeed", n)
	}
}
