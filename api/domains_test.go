package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/domainsweep"
	"github.com/funnelwork/funnelwork/jobs/domainverify"
)

const domainsTarget = "edge.funnel.test"

// domains returns the custom domain service with the test's own resolvers and an audit log.
func domains(system *postgres.DB, resolvers ...*testkit.NameServer) *branding.Domains {
	var views []branding.View
	for _, r := range resolvers {
		views = append(views, branding.NameServers{Servers: []string{r.Addr}})
	}
	return branding.NewDomains(branding.DomainOptions{
		System: system, Target: domainsTarget, Own: []string{"api.test"}, Views: views,
		Audit: func(ctx context.Context, tx *postgres.Tx, act branding.Act) {
			org.Audit(ctx, tx, org.Entry{Action: act.Action, Target: "domain", ID: act.Host, Detail: act.Detail})
		},
	})
}

// hub is a service with two resolvers and a running host resolver.
type hub struct {
	*service
	A, B  *testkit.NameServer
	Hosts *branding.Hosts
}

func startHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{A: testkit.DNS(t), B: testkit.DNS(t)}
	h.service = startWith(t, api.NewWithHosted, hubOperations, unlimited, func(d *api.Deps) {
		h.Hosts = branding.NewHosts(branding.HostsOptions{System: d.System, Log: d.Log})
		d.Domains, d.Hosts = domains(d.System, h.A, h.B), h.Hosts
	})
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { _ = h.Hosts.Run(ctx) })
	t.Cleanup(func() {
		stop()
		following.Wait()
	})
	return h
}

type domainBody struct {
	Domain, Status string
	Records        []branding.DNSRecord
	LastError      *struct{ Code, Detail string } `json:"last_error"`
	CheckedAt      *time.Time                     `json:"checked_at"`
	VerifiedAt     *time.Time                     `json:"verified_at"`
	ExpiresAt      *time.Time                     `json:"expires_at"`
}

func (b domainBody) code() string {
	if b.LastError == nil {
		return ""
	}
	return b.LastError.Code
}

func (c *caller) domain(method, path, body string) (b domainBody) {
	c.Helper()
	var sent any
	if body != "" {
		sent = body
	}
	got := c.do(method, "/white-label/domain"+path, sent)
	if got.Status != 200 {
		c.Fatalf("%s /white-label/domain%s: %d %s", method, path, got.Status, got.Body)
	}
	if err := json.Unmarshal(got.Body, &b); err != nil {
		c.Fatal(err)
	}
	return b
}

func (c *caller) claim(host string) domainBody {
	c.Helper()
	return c.domain("PUT", "", fmt.Sprintf(`{"domain":%q}`, host))
}

// set sets the records of both resolvers: TXT and CNAME, only TXT, or none.
func (h *hub) set(records []branding.DNSRecord, n int) {
	for i, r := range records {
		for _, server := range []*testkit.NameServer{h.A, h.B} {
			if i < n {
				server.Set(r.Name, r.Type, r.Value)
			} else {
				server.Set(r.Name, r.Type)
			}
		}
	}
}

// shows waits until the host shows the org's pages, or no pages for the zero org.
func (h *hub) shows(host string, org id.ID) {
	h.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var got answer
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		if got = h.stranger().do("GET", "/api/v1/test/hosted", nil, "Host", host); got.Status == 200 &&
			strings.Contains(string(got.Body), org.String()) || org.IsZero() && got.Status == 421 {
			return
		}
	}
	h.Fatalf("%s shows %d %s; want %s", host, got.Status, got.Body, org)
}

func TestACustomDomainFromItsClaimToItsEnd(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	c := h.signup().subscribe("white_label_pro")
	c.do("GET", "/white-label/domain", nil).want(t, 404, "not_found")
	c.do("POST", "/white-label/domain/verify", nil).want(t, 404, "not_found")
	c.do("DELETE", "/white-label/domain", nil).want(t, 204, "")

	b := c.claim("CRM.Acme.test.")
	if b.ExpiresAt == nil || len(b.Records) != 2 {
		t.Fatalf("claimed: expires_at %v, records %+v; want a time and 2 records", b.ExpiresAt, b.Records)
	}
	claimed := b
	claimed.Domain, claimed.Status = "crm.acme.test", "pending_dns"
	claimed.Records = []branding.DNSRecord{
		{Type: "TXT", Name: "_funnelwork.crm.acme.test", Value: b.Records[0].Value},
		{Type: "CNAME", Name: "crm.acme.test", Value: domainsTarget},
	}
	if diff := cmp.Diff(claimed, b); diff != "" {
		t.Fatalf("claimed (-want +got):\n%s", diff)
	}
	if got, want := len(b.Records[0].Value), len("funnelwork-verify=")+32; got != want {
		t.Fatalf("the TXT record %q has %d bytes, want %d", b.Records[0].Value, got, want)
	}
	if again := c.claim("crm.acme.test"); again.Records[0] != b.Records[0] {
		t.Error("claiming what one has makes another token")
	}
	h.shows("crm.acme.test", id.ID{})
	for _, step := range []struct {
		records        int
		status, reason string
		served         bool
	}{
		{0, "pending_dns", "txt_missing", false},
		{1, "verified", "cname_missing", true},
		{2, "active", "", true},
		{2, "active", "", true},
		{0, "active", "txt_missing", true},
	} {
		h.set(b.Records, step.records)
		got := c.domain("POST", "/verify", "")
		if got.Status != step.status || got.code() != step.reason {
			t.Errorf("with %d records: %s %s, want %s %s", step.records, got.Status, got.code(), step.status,
				step.reason)
		}
		if got.CheckedAt == nil {
			t.Errorf("with %d records: no checked_at", step.records)
		}
		if (got.VerifiedAt != nil) != step.served || (got.ExpiresAt == nil) != step.served {
			t.Errorf("with %d records: verified_at %v, expires_at %v; want the first alone: %v", step.records,
				got.VerifiedAt, got.ExpiresAt, step.served)
		}
		if step.served {
			h.shows("crm.acme.test", c.Org)
		}
	}
	if got := c.eventsOf(); !slices.Equal(got, []string{"domain.verified"}) {
		t.Errorf("events: %v", got)
	}
	c.do("DELETE", "/white-label/domain", nil).want(t, 204, "")
	c.do("DELETE", "/white-label/domain", nil).want(t, 204, "")
	c.do("GET", "/white-label/domain", nil).want(t, 404, "not_found")
	h.shows("crm.acme.test", id.ID{})
	for _, act := range []string{"domain.claimed", "domain.verified", "domain.active", "domain.removed"} {
		if !strings.Contains(c.acts(), act) {
			t.Errorf("the audit log lacks %s: %s", act, c.acts())
		}
	}

	c.claim("crm.acme.test")
	h.set(c.domain("GET", "", "").Records, 2)
	c.domain("POST", "/verify", "")
	h.shows("crm.acme.test", c.Org)
	if other := c.claim("www.acme.test"); other.Status != "pending_dns" {
		t.Errorf("another domain in its place: %+v", other)
	}
	h.shows("crm.acme.test", id.ID{})
}

func TestWhoMayHaveACustomDomain(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	poor, rich := h.signup().subscribe("solo_pro"), h.signup().subscribe("white_label_pro")
	body := `{"domain":"crm.acme.test"}`
	poor.do("PUT", "/white-label/domain", body).want(t, 402, "feature_not_in_plan")
	poor.do("POST", "/white-label/domain/verify", nil).want(t, 402, "feature_not_in_plan")
	poor.do("GET", "/white-label/domain", nil).want(t, 402, "feature_not_in_plan")
	rich.as(auth.Member).do("PUT", "/white-label/domain", body).want(t, 403, "forbidden")
	for given, code := range map[string]string{
		"127.0.0.1": "ip_address", "co.uk": "public_suffix",
		"x.api.test": "own_domain", "a b": "invalid_domain", "": "required",
	} {
		got := rich.do("PUT", "/white-label/domain", map[string]string{"domain": given})
		if got.want(t, 422, "validation_failed"); !strings.Contains(string(got.Body), `"`+code+`"`) {
			t.Errorf("%q: %s", given, got.Body)
		}
	}
	rich.claim("crm.acme.test")
	rich.as(auth.Viewer).domain("GET", "", "")
	rich.as(auth.Viewer).do("POST", "/white-label/domain/verify", nil).want(t, 403, "forbidden")
	// After a downgrade, the domain can still be read and removed.
	rich.subscribe("solo_pro")
	rich.domain("GET", "", "")
	rich.do("POST", "/white-label/domain/verify", nil).want(t, 402, "feature_not_in_plan")
	rich.do("DELETE", "/white-label/domain", nil).want(t, 204, "")
}

// TestADomainThatChangesHandsShowsNothingOfEitherToTheOther: org a removes the domain, org b claims it.
func TestADomainThatChangesHandsShowsNothingOfEitherToTheOther(t *testing.T) {
	t.Parallel()
	const host = "crm.acme.test"
	h := startHub(t)
	a, b := h.signup().subscribe("white_label_pro"), h.signup().subscribe("white_label_pro")
	first := a.claim(host)
	h.set(first.Records, 2)
	if got := a.domain("POST", "/verify", ""); got.Status != "active" {
		t.Fatalf("a: %+v", got)
	}
	h.shows(host, a.Org)
	b.do("PUT", "/white-label/domain", map[string]string{"domain": host}).want(t, 409, "domain_taken")
	a.do("GET", "/api/v1/org", nil, "Host", host).want(t, 200, "")

	a.do("DELETE", "/white-label/domain", nil).want(t, 204, "")
	second := b.claim(host)
	if second.Records[0] == first.Records[0] {
		t.Fatal("b has a's token")
	}
	// a's DNS records still exist, but they do not verify b's claim, and a's claim has ended.
	h.shows(host, id.ID{})
	if got := b.domain("POST", "/verify", ""); got.Status != "pending_dns" || got.code() != "txt_wrong" {
		t.Errorf("b by a's TXT: %+v", got)
	}
	h.shows(host, id.ID{})
	a.do("POST", "/white-label/domain/verify", nil).want(t, 404, "not_found")

	h.set(second.Records, 2)
	if got := b.domain("POST", "/verify", ""); got.Status != "active" {
		t.Errorf("b by its own TXT: %+v", got)
	}
	h.shows(host, b.Org)
	// Credentials that a's users kept in their browsers are refused there and show no data of b anywhere.
	for _, kept := range []*caller{a, a.as(auth.Viewer), a.key(auth.Admin)} {
		kept.do("GET", "/api/v1/org", nil, "Host", host).want(t, 421, "misdirected_request")
		kept.do("GET", "/white-label/domain", nil, "Host", host).want(t, 421, "misdirected_request")
		if got := kept.do("GET", "/api/v1/org", nil); got.Status != 200 ||
			strings.Contains(string(got.Body), b.Org.String()) {
			t.Errorf("a's own: %d %s", got.Status, got.Body)
		}
	}
	for _, theirs := range []*caller{b, b.key(auth.Viewer)} {
		theirs.do("GET", "/api/v1/org", nil, "Host", strings.ToUpper(host)+":8443").want(t, 200, "")
	}
	// a cannot claim it back before it is verified again, which is impossible while b holds it.
	a.do("PUT", "/white-label/domain", map[string]string{"domain": host}).want(t, 409, "domain_taken")
	h.shows(host, b.Org)
}

// Two orgs may claim one host. The first to verify gets it, and the other gets an error.
func TestOfTwoClaimsTheFirstWithProofHasTheHost(t *testing.T) {
	t.Parallel()
	const host = "crm.acme.test"
	h := startHub(t)
	var orgs []*caller
	var values []string
	for range 4 {
		c := h.signup().subscribe("white_label_pro")
		orgs, values = append(orgs, c), append(values, c.claim(host).Records[0].Value)
	}
	for _, server := range []*testkit.NameServer{h.A, h.B} {
		server.Set("_funnelwork."+host, "TXT", values...)
		server.Set(host, "CNAME", domainsTarget)
	}
	got := make([]domainBody, len(orgs))
	var racing sync.WaitGroup
	for i, c := range orgs {
		racing.Go(func() { got[i] = c.domain("POST", "/verify", "") })
	}
	racing.Wait()
	var winner id.ID
	lost := 0
	for i, b := range got {
		switch {
		case b.Status == "active":
			winner = orgs[i].Org
		case b.Status == "pending_dns" && b.code() == "domain_taken":
			lost++
		}
	}
	if winner.IsZero() || lost != len(orgs)-1 {
		t.Fatalf("%+v", got)
	}
	h.shows(host, winner)
}

func TestWhichNamesHostedPagesAreShownUnder(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	for host, status := range map[string]int{
		"127.0.0.1": 200, "localhost:8080": 200, "[::1]:8080": 200, "api": 200, "funnelwork-api:8080": 200,
		"api.test": 200, "API.test:443": 200, "eu.api.test": 200, "x.localhost": 200,
		"crm.acme.test": 421, "notapi.test": 421, "lb-17.eu.cloud.example": 421, "api.test.evil.example": 421,
		"xn--bcher-kva.de": 421,
	} {
		got := h.stranger().do("GET", "/api/v1/test/hosted", nil, "Host", host, "X-Forwarded-Host", "api.test")
		if got.Status != status || got.Header.Get("Location") != "" {
			t.Errorf("%s: %d %s", host, got.Status, got.Body)
		}
	}
	// With a credential the host has no effect, unless it is another org's domain.
	c := h.signup()
	for _, host := range []string{"127.0.0.1", "crm.acme.test", "lb-17.eu.cloud.example"} {
		c.do("GET", "/api/v1/org", nil, "Host", host).want(t, 200, "")
	}
}

// A reseller's clients, and its staff in their orgs, may use its domain.
func TestClientsAreAtHomeUnderTheirAgencysDomain(t *testing.T) {
	t.Parallel()
	const host = "crm.agency.test"
	h := startHub(t)
	agency := h.signup().subscribe("white_label_pro")
	h.set(agency.claim(host).Records, 2)
	agency.domain("POST", "/verify", "")
	h.shows(host, agency.Org)
	client := agency.client(map[string]any{"name": "Client"})
	agency.enter(client.ID, `{}`).do("GET", "/api/v1/org", nil, "Host", host).want(t, 200, "")
	inside := &caller{service: h.service, Org: uuidOf(t, client.ID)}
	inside.as(auth.Viewer).do("GET", "/api/v1/org", nil, "Host", host).want(t, 200, "")
	h.signup().do("GET", "/api/v1/org", nil, "Host", host).want(t, 421, "misdirected_request")
}

// TestTheJobMovesADomainByTheClock runs the sweep and its jobs without any request.
func TestTheJobMovesADomainByTheClock(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	c := h.signup().subscribe("white_label_pro")
	records := c.claim("crm.acme.test").Records
	job := domainverify.Job{App: h.DB.App, Domains: h.Deps.Domains, Plans: plans.NewService(h.DB.App, nil)}
	all := domainsweep.Job{Domains: h.Deps.Domains}
	sql := testkit.Pgx(t, h.DB.URL)
	sweep := func() (n int) {
		t.Helper()
		if err := all.Work(t.Context(), &queue.Run[domainsweep.Args]{}); err != nil {
			t.Fatal(err)
		}
		if err := sql.QueryRow(t.Context(),
			"WITH gone AS (DELETE FROM job WHERE kind = 'domain.verify' RETURNING 1) SELECT count(*) FROM gone").
			Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	run := func() domainBody {
		t.Helper()
		var domain id.ID
		if err := sql.QueryRow(t.Context(), "SELECT id FROM domain WHERE org_id = $1 AND status <> 'removed'", c.Org).
			Scan(&domain); err != nil {
			t.Fatal(err)
		}
		if err := job.Work(t.Context(),
			&queue.Run[domainverify.Args]{
				Claimed: &queue.Claimed{Org: c.Org},
				Args:    domainverify.Args{Domain: domain},
			}); err != nil {
			t.Fatal(err)
		}
		return c.domain("GET", "", "")
	}
	later := func(by string) {
		t.Helper()
		if _, err := sql.Exec(t.Context(),
			`UPDATE domain SET next_check_at = next_check_at - $2::interval, claimed_at = claimed_at -
				$2::interval, failed_at = failed_at - $2::interval,
			degraded_at = degraded_at - $2::interval, checked_at = checked_at - $2::interval WHERE org_id = $1`,
			c.Org, by); err != nil {
			t.Fatal(err)
		}
	}
	if n := sweep(); n != 0 {
		t.Errorf("%d jobs before the time", n)
	}
	later("2 minutes")
	if a, b := sweep(), sweep(); a != 1 || b != 0 {
		t.Errorf("%d jobs when it is due, %d more at once", a, b)
	}
	h.set(records, 2)
	if got := run(); got.Status != "active" {
		t.Errorf("with the records: %+v", got)
	}
	// One failing resolver is not a failure, however long it lasts.
	h.B.Trouble("crm.acme.test", testkit.ServFail)
	for range 5 {
		later("1 hour")
		if got := run(); got.Status != "active" || got.code() != "dns_unreachable" {
			t.Errorf("one resolver away: %+v", got)
		}
	}
	h.B.Trouble("crm.acme.test", 0)
	h.set(records, 1)
	for i, want := range []string{"active", "active", "degraded", "degraded"} {
		later("1 hour")
		if got := run(); got.Status != want || got.code() != "cname_missing" {
			t.Errorf("the CNAME is gone, look %d: %+v", i+1, got)
		}
	}
	h.shows("crm.acme.test", c.Org) // grace period
	h.set(records, 2)
	if got := run(); got.Status != "active" {
		t.Errorf("it is back: %+v", got)
	}
	h.set(records, 0)
	for range 4 {
		later("1 hour")
		run()
	}
	later("73 hours")
	if got := run(); got.Status != "suspended" {
		t.Errorf("after the grace: %+v", got)
	}
	h.shows("crm.acme.test", id.ID{})
	h.set(records, 2)
	if got := run(); got.Status != "active" {
		t.Errorf("after the suspension: %+v", got)
	}
	h.shows("crm.acme.test", c.Org)
	want := []string{"domain.verified", "domain.degraded", "domain.verified", "domain.degraded", "domain.verified"}
	events := func() (got []string) {
		for _, e := range c.eventsOf() {
			if strings.HasPrefix(e, "domain.") {
				got = append(got, e)
			}
		}
		return got
	}
	if got := events(); !slices.Equal(got, want) {
		t.Errorf("events: %v; want %v", got, want)
	}

	// A plan without the feature stops serving the domain immediately; a plan with it resumes.
	sweep()
	c.subscribe("solo_pro")
	if n := sweep(); n != 1 {
		t.Errorf("%d jobs after a change of plan", n)
	}
	if got := run(); got.Status != "suspended" || got.code() != "feature_not_in_plan" {
		t.Errorf("without the feature: %+v", got)
	}
	h.shows("crm.acme.test", id.ID{})
	c.subscribe("white_label_pro")
	if n := sweep(); n != 1 {
		t.Errorf("%d jobs after a change back", n)
	}
	if got := run(); got.Status != "active" {
		t.Errorf("with the feature again: %+v", got)
	}
	// A late job finds another claim, or none.
	later("1 hour")
	c.claim("www.acme.test")
	if err := job.Work(t.Context(),
		&queue.Run[domainverify.Args]{
			Claimed: &queue.Claimed{Org: c.Org},
			Args:    domainverify.Args{Domain: id.New()},
		}); err != nil {
		t.Error(err)
	}
	later("8 days")
	h.set(records, 0)
	if n := sweep(); n != 1 {
		t.Errorf("%d jobs for an old claim", n)
	}
	_ = job.Work(t.Context(),
		&queue.Run[domainverify.Args]{
			Claimed: &queue.Claimed{Org: c.Org},
			Args:    domainverify.Args{Domain: h.domainOf(c.Org)},
		})
	c.do("GET", "/white-label/domain", nil).want(t, 404, "not_found")
}

func uuidOf(t *testing.T, text string) (i id.ID) {
	t.Helper()
	if err := i.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return i
}

func (h *hub) domainOf(org id.ID) (domain id.ID) {
	h.Helper()
	if err := testkit.Pgx(h, h.DB.URL).QueryRow(h.Context(),
		"SELECT id FROM domain WHERE org_id = $1 AND status <> 'removed'", org).Scan(&domain); err != nil {
		h.Fatal(err)
	}
	return domain
}

func TestChecksAreNotAskedForWithoutEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.signup().subscribe("white_label_pro")
	c.claim("crm.acme.test")
	for n := range 30 {
		got := c.do("POST", "/white-label/domain/verify", nil)
		if got.Status == 200 {
			continue
		}
		if got.want(t, 429, "rate_limited"); n < 10 || got.Header.Get("Retry-After") == "" {
			t.Errorf("refused after %d, Retry-After %q", n, got.Header.Get("Retry-After"))
		}
		c.do("GET", "/white-label/domain", nil).want(t, 200, "")
		return
	}
	t.Error("thirty checks in a row were made")
}
