package api_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// without configures an API without any part and its services.
func without(d *api.Deps) {
	d.Limits, d.Billing, d.AI = nil, nil, nil
	d.Social = social.New(social.Options{
		Providers: provider.New(provider.Options{}), Box: d.Box,
		PublicURL: d.PublicURL,
	})
	d.NotConfigured = []httpx.Part{httpx.PartBilling, httpx.PartOAuth, httpx.PartMail, httpx.PartAI}
}

func TestWhatIsNotConfiguredAnswersSoToWhoeverMayAskForItAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	s := start(t, without)
	ada := s.signup().subscribe("white_label_pro")
	parts := 0
	for _, r := range s.App.Routes() {
		if r.Part == "" {
			continue
		}
		parts++
		path := strings.NewReplacer("{id}", "01a204ba-518b-7800-a0e3-1db8f0b2336c").Replace(r.Path)
		got := ada.do(r.Method, path, s.example(r, 0)).want(t, 503, "not_configured")
		if got.Header.Get("Retry-After") != "300" ||
			!strings.Contains(string(got.Body), `"part":"`+string(r.Part)+`"`) {
			t.Errorf("%s %s: Retry-After %s: %s", r.Method, r.Path, got.Header.Get("Retry-After"), got.Body)
		}
		if r.Role == "" {
			continue
		}
		s.stranger().do(r.Method, path, s.example(r, 0)).want(t, 401, "unauthorized")
		if r.Role != auth.Viewer {
			ada.as(auth.Viewer).do(r.Method, path, s.example(r, 0)).want(t, 403, "forbidden")
		}
	}
	if parts < 14 {
		t.Errorf("only %d operations need a part", parts)
	}
	for _, platform := range []string{"social/x", "ads/google_ads", "ads/x_ads"} {
		ada.do("POST", "/api/v1/"+platform+"/connect", nil).want(t, 503, "not_configured")
	}
	ada.do("POST", "/api/v1/social/myspace/connect", nil).want(t, 404, "not_found")
}

func TestWithoutMailAnInvitationsAnswerHoldsItsLinkAndNoMailIsWritten(t *testing.T) {
	t.Parallel()
	s := start(t, without)
	ada := s.signup().subscribe("agency_growth")
	type invited struct {
		AcceptURL string `json:"accept_url"`
	}
	accept := func(link string) answer {
		t.Helper()
		token, ok := strings.CutPrefix(link, s.Deps.PublicURL+"/accept-invite?token=")
		if !ok {
			t.Fatalf("the link is %q", link)
		}
		return s.stranger().do("POST", "/api/v1/auth/accept-invite",
			map[string]string{"token": token, "password": "correct-horse-battery"})
	}
	var first, again, owner invited
	ada.do("POST", "/api/v1/members", `{"email":"bob@example.test","role":"member"}`, "Idempotency-Key", "bob").
		want(t, 201, "").into(t, &first)
	ada.do("POST", "/api/v1/members", `{"email":"bob@example.test","role":"member"}`, "Idempotency-Key", "bob").
		want(t, 201, "").into(t, &again)
	if first != again {
		t.Errorf("the stored answer has %q, the first one %q", again.AcceptURL, first.AcceptURL)
	}
	if n := s.count("idempotency_key WHERE position($1::bytea IN answer) > 0",
		[]byte(strings.TrimPrefix(first.AcceptURL, s.Deps.PublicURL))); n != 0 {
		t.Error("the link is kept as it is")
	}
	got := ada.do("POST", clientsPath, `{"name":"Shop","owner_email":"eve@example.test"}`).want(t, 201, "")
	got.into(t, &owner)
	accept(first.AcceptURL).want(t, 200, "")
	accept(owner.AcceptURL).want(t, 200, "")
	for _, path := range []string{"/api/v1/members", clientsPath, got.Header.Get("Location")} {
		if shown := ada.do("GET", path, nil).want(t, 200, ""); strings.Contains(string(shown.Body), "accept_url") {
			t.Errorf("%s shows a link: %s", path, shown.Body)
		}
	}
	s.stranger().do("POST", "/api/v1/auth/signup",
		`{"org_name":"Looms","email":"cy@example.test","password":"correct-horse-battery"}`).want(t, 201, "")
	var mails, jobs int
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(),
		"SELECT (SELECT count(*) FROM system_mail), (SELECT count(*) FROM job WHERE kind = 'mail.system')").
		Scan(&mails, &jobs); err != nil {
		t.Fatal(err)
	}
	if mails != 0 || jobs != 0 {
		t.Errorf("%d mails and %d of their jobs", mails, jobs)
	}
}
