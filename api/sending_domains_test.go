package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/domainverify"
)

const sendingDomainsPath = sendingPath + "/domains"

// sendingRecord is a DNS record of a response.
type sendingRecord struct {
	Type, Name, Value string
	Found             bool
}

// sendingDomain is a sending domain as a client reads it.
type sendingDomain struct {
	Domain, Status string
	Records        []sendingRecord
	VerifiedAt     *string `json:"verified_at"`
}

func TestARepeatedCallOfADomainHasItsAnswerThoughTheDomainIsGone(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	ada := h.signup().subscribe("white_label_pro")
	const custom, sending = "/white-label/domain", sendingDomainsPath + "/shop.example"
	ada.claim("crm.shop.example")
	ada.do(http.MethodPost, sendingDomainsPath, `{"domain":"shop.example"}`).want(t, 201, "")
	paths := []string{custom + "/verify", sending + "/verify", sending + "/rotate"}
	var first []answer
	for _, path := range paths {
		first = append(first, ada.do(http.MethodPost, path, nil, "Idempotency-Key", path).want(t, 200, ""))
	}
	ada.do(http.MethodDelete, custom, nil).want(t, 204, "")
	ada.do(http.MethodDelete, sending, nil).want(t, 204, "")
	for i, path := range paths {
		again := ada.do(http.MethodPost, path, nil, "Idempotency-Key", path).want(t, 200, "")
		if string(again.Body) != string(first[i].Body) {
			t.Errorf("%s: %s, want %s", path, again.Body, first[i].Body)
		}
		ada.do(http.MethodPost, path, nil).want(t, 404, "not_found")
	}
}

func TestASendingDomainFromItsFirstKeyToItsEnd(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	ada := h.signup()
	var d sendingDomain
	at := sendingDomainsPath + "/shop.example"
	ada.do(http.MethodPost, at+"/verify", nil).want(t, 404, "not_found")
	ada.do(http.MethodPost, sendingDomainsPath, `{"domain":"Shop.example."}`, "Idempotency-Key", "a").want(t, 201, "").
		into(t, &d)
	if d.Domain != "shop.example" || d.Status != "pending" || len(d.Records) != 3 {
		t.Errorf("added %+v", d)
	}
	key := d.Records[0]
	ada.do(http.MethodPost, sendingDomainsPath, `{"domain":"shop.example"}`).want(t, 200, "").into(t, &d)
	if d.Records[0].Value != key.Value {
		t.Error("a second request made another key")
	}
	h.A.Set(key.Name, "TXT", key.Value[:200]+"|"+key.Value[200:])
	ada.do(http.MethodPost, at+"/verify", nil).want(t, 200, "").into(t, &d)
	if d.Status != "verified" || !d.Records[0].Found || d.VerifiedAt == nil {
		t.Errorf("verified %+v", d)
	}
	ada.do(http.MethodPost, at+"/rotate", nil).want(t, 200, "").into(t, &d)
	if d.Status != "verified" || len(d.Records) != 4 || d.Records[0].Found || d.Records[1].Name != key.Name {
		t.Errorf("rotated %+v", d)
	}
	var set struct{ Domains []sendingDomain }
	got := ada.do(http.MethodGet, sendingPath, nil).want(t, 200, "")
	if got.into(t, &set); len(set.Domains) != 1 || set.Domains[0].Records[0] != d.Records[0] {
		t.Errorf("settings %s", got.Body)
	}
	ada.do(http.MethodPut, sendingPath, got.Body).want(t, 200, "")
	got = ada.do(http.MethodPut, sendingPath, `{"domains":[]}`).want(t, 422, "")
	if got.field() != "#/domains read_only" {
		t.Errorf("other domains: %s", got.Body)
	}
	member := ada.as(auth.Member)
	member.do(http.MethodPost, sendingDomainsPath, `{"domain":"a.example"}`).want(t, 403, "forbidden")
	for given, code := range map[string]string{
		"com": "invalid_domain", "co.uk": "public_suffix", "api.test": "own_domain",
	} {
		got := ada.do(http.MethodPost, sendingDomainsPath, map[string]string{"domain": given}).want(t, 422, "")
		if got.field() != "#/domain "+code {
			t.Errorf("%s: %s", given, got.Body)
		}
	}
	if n := ada.count(`audit_log WHERE org_id = $1 AND target_type = 'sending_domain'`, ada.Org); n != 3 {
		t.Errorf("%d audit entries", n)
	}
	if n := ada.count(`audit_log WHERE org_id = $1 AND detail::text LIKE '%PRIVATE%'`, ada.Org); n != 0 {
		t.Error("a key is in the audit log")
	}
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodDelete, at, nil).want(t, 404, "not_found")
	if n := ada.count("sending_key WHERE org_id = $1", ada.Org); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestTheLinksOfMailHaveTheTrackingDomainWhileItPointsHere(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	poor := h.signup()
	poor.do(http.MethodPut, sendingPath, `{"tracking_domain":"links.shop.example"}`).want(t, 402, "feature_not_in_plan")
	ada := h.signup().subscribe("white_label_pro")
	var set struct {
		Domain  *string              `json:"tracking_domain"`
		Status  *string              `json:"tracking_domain_status"`
		Records []branding.DNSRecord `json:"tracking_domain_records"`
	}
	var contact struct{ ID string }
	ada.do(http.MethodPost, contactsPath, `{"email":"eve@acme.example","first_name":"Eve","last_name":"X"}`).
		want(t, 201, "").into(t, &contact)
	box := ada.sandboxMailbox()
	links := func() string {
		t.Helper()
		var email struct{ HTML string }
		ada.do(http.MethodPost, emailsPath, `{"contact_id":"`+contact.ID+`","mailbox_id":"`+box+`","subject":"Hi",`+
			`"html":"<a href='https://shop.example/'>a</a> {{ unsubscribe_url }}","tracking":{"clicks":true}}`).
			want(t, 201, "").into(t, &email)
		switch n := strings.Count(email.HTML, "https://links.shop.example/t/"); {
		case strings.Contains(email.HTML, `"https://links.shop.example/t/c/`) &&
			strings.Contains(email.HTML, " https://links.shop.example/t/u/"):
			return "its own"
		case n == 0 && strings.Contains(email.HTML, h.Deps.PublicURL+"/t/c/"):
			return "the platform's"
		}
		return email.HTML
	}
	got := ada.do(http.MethodPut, sendingPath, `{"tracking_domain":"Links.shop.example"}`).want(t, 200, "")
	got.into(t, &set)
	if *set.Domain != "links.shop.example" || *set.Status != "pending_dns" || len(set.Records) != 2 {
		t.Errorf("claimed %s", got.Body)
	}
	if got := links(); got != "the platform's" {
		t.Errorf("a pending domain: %s", got)
	}
	h.set(set.Records, 2)
	job := domainverify.Job{App: h.DB.App, Domains: h.Deps.Domains, Plans: plans.NewService(h.DB.App, nil)}
	if err := job.Work(t.Context(), &queue.Run[domainverify.Args]{
		Claimed: &queue.Claimed{Org: ada.Org}, Args: domainverify.Args{Domain: h.domainOf(ada.Org)},
	}); err != nil {
		t.Fatal(err)
	}
	got = ada.do(http.MethodGet, sendingPath, nil).want(t, 200, "")
	if got.into(t, &set); *set.Status != "active" || strings.Contains(string(got.Body), `"found":false`) {
		t.Errorf("with its records: %s", got.Body)
	}
	if got := links(); got != "its own" {
		t.Errorf("an active domain: %s", got)
	}
	ada.do(http.MethodGet, "/white-label/domain", nil).want(t, 404, "not_found")
	other := h.signup().subscribe("white_label_pro")
	other.do(http.MethodPut, sendingPath, `{"tracking_domain":"links.shop.example"}`).want(t, 409, "domain_taken")
	if got := ada.do(http.MethodPut, sendingPath, `{"tracking_domain":"co.uk"}`).want(t, 422, ""); got.field() !=
		"#/tracking_domain public_suffix" {
		t.Errorf("a public suffix: %s", got.Body)
	}
	ada.do(http.MethodPut, sendingPath, `{"tracking_domain":null}`).want(t, 200, "").into(t, &set)
	if set.Domain != nil || set.Status != nil {
		t.Errorf("removed: %+v", set)
	}
	if got := links(); got != "the platform's" {
		t.Errorf("without a domain: %s", got)
	}
}
