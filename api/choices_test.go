package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

func TestAnErrorAboutOneOfASmallSetListsTheSet(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example")
	const one = `"first_name":"B","last_name":"B"`
	bulk := func(action string) string { return `{"filter":{"all":[]},"action":` + action + `}` }
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{
			"a new contact's stage", "POST", contactsPath, `{"email":"b@acme.example",` + one + `,"stage":"hot"}`, 422,
			"one of: subscriber, lead, mql,",
		},
		{
			"a contact's stage", "PATCH", contactsPath + "/" + c.ID, `{"stage":"hot"}`, 422,
			"one of: subscriber, lead, mql,",
		},
		{
			"a row's stage", "POST", contactsPath + "/batch",
			`{"contacts":[{"email":"c@acme.example",` + one + `,"stage":"hot"}]}`, 200,
			"one of: subscriber, lead, mql,",
		},
		{
			"a bulk change's stage", "POST", bulkPath, bulk(`{"type":"update","patch":{"stage":"hot"}}`), 422,
			"one of: subscriber, lead, mql,",
		},
		{
			"a social platform", "POST", "/api/v1/social/myspace/connect", "", 404,
			"one of: facebook, instagram, linkedin,",
		},
		{"an ad platform", "POST", "/api/v1/ads/facebook/connect", "", 404, "one of: meta_ads, linkedin_ads,"},
		{
			"a plan", "POST", "/billing/change-plan", `{"plan":"gold","interval":"month"}`, 422,
			"one of: solo_starter, solo_pro,",
		},
		{
			"an interval", "POST", "/billing/change-plan", `{"plan":"solo_pro","interval":"week"}`, 422,
			"one of: month, year.",
		},
		{
			"an event type of a webhook", "POST", hooksPath, `{"url":"https://a.example/","events":["contact.create"]}`,
			422, "Did you mean contact.created?",
		},
		{
			"an event type of the feed", "GET", "/api/v1/events?type=contact_created", "", 400,
			"Did you mean contact.created?",
		},
		{
			"an event type of deliveries", "GET",
			hooksPath + "/" + ada.hook("").ID + "/deliveries?event_type=contact-created", "", 400,
			"Did you mean contact.created?",
		},
		{
			"a role", "POST", "/api/v1/members", `{"email":"m@acme.example","role":"king"}`, 422,
			"one of: viewer, member, admin",
		},
		{"a sort key", "GET", contactsPath + "?sort=age", "", 400, "one of: -created_at, created_at,"},
		{"a parameter", "GET", contactsPath + "?stages=lead", "", 400, " stage, "},
		{
			"a filter's field", "GET", contactsPath + `?filter={"field":"age","op":"eq","value":1}`, "", 400,
			"one of: company_id, consent_basis, consent_confirmed_at,",
		},
		{
			"a filter's op", "GET", contactsPath + `?filter={"field":"email","op":"like","value":""}`, "", 400,
			"op is one of eq, ne,",
		},
		{
			"an export's field", "POST", exportsPath, `{"format":"csv","fields":["mail"]}`, 422,
			"one of: id, email, first_name,",
		},
		{"an export's format", "POST", exportsPath, `{"format":"xls"}`, 422, "one of: csv, ndjson, xlsx."},
		{"a member of a body", "PATCH", contactsPath + "/" + c.ID, `{"mail":"x"}`, 422, " email, "},
		{
			"a member of a row", "POST", contactsPath + "/batch", `{"contacts":[{"emial":"c@acme.example"}]}`, 200,
			" email, ",
		},
		{"a deal's status", "POST", dealsPath, `{"name":"d","status":"closed"}`, 422, "one of open, won, lost."},
		{"a deal's stage", "POST", dealsPath, `{"name":"d","stage_id":"` + c.ID + `"}`, 422, " (Won), "},
		{
			"a bulk action's member", "POST", bulkPath, bulk(`{"type":"tag","add":["a"],"patch":{"stage":"lead"}}`),
			422,
			"one of: add, remove.",
		},
	} {
		got := ada.do(tc.method, tc.path, tc.body)
		if got.Status != tc.status {
			t.Errorf("%s: status %d, want %d: %s", tc.name, got.Status, tc.status, got.Body)
		}
		if !strings.Contains(string(got.Body), tc.want) {
			t.Errorf("%s: %s, want %q in it", tc.name, got.Body, tc.want)
		}
	}
	got := ada.send(nil, "mapping", `{"mail":"email","E-Mail":"mail"}`, "file", "E-Mail,Name\nx@acme.example,X\n")
	for _, want := range []string{"one of: E-Mail, Name.", "one of: id, email, first_name,"} {
		if !strings.Contains(string(got.Body), want) {
			t.Errorf("a mapping: %s, want %q in it", got.Body, want)
		}
	}
}

func TestAPrivateWebhookIsRefusedWithWhatCanBeDoneInstead(t *testing.T) {
	t.Parallel()
	const setting = "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true"
	inbox := "http://127.0.0.1:9090/sandbox/inbox/"
	with := func(p outbound.Policy) func(*api.Deps) {
		return func(d *api.Deps) { d.Hooks = &webhooks.Service{Box: d.Box, Policy: p} }
	}
	trial := start(t, unlimited, with(outbound.Policy{Inbox: inbox})).signup()
	plain := start(t, unlimited).signup()
	open := start(t, unlimited, with(outbound.Policy{AllowPrivate: true})).signup()
	detail := func(c *caller, url string) string {
		t.Helper()
		var p struct{ Detail string }
		c.do(http.MethodPost, hooksPath, map[string]any{"url": url, "events": []string{"*"}}).
			want(t, 422, "url_not_allowed").into(t, &p)
		return p.Detail
	}
	for _, url := range []string{
		"http://localhost:3000/hook", "https://localhost/hook", "http://10.1.2.3/",
		"http://hooks.example/",
	} {
		if got := detail(trial, url); !strings.Contains(got, inbox+"first") || !strings.Contains(got, setting) {
			t.Errorf("%s with an inbox: %s", url, got)
		}
		if got := detail(plain, url); strings.Contains(got, "inbox") || !strings.Contains(got, setting) {
			t.Errorf("%s without an inbox: %s", url, got)
		}
	}
	for _, url := range []string{"https://169.254.169.254/latest", "https://user:pass@hooks.example/"} {
		for _, c := range []*caller{trial, plain, open} {
			if got := detail(c, url); strings.Contains(got, setting) || strings.Contains(got, "inbox") {
				t.Errorf("%s: %s", url, got)
			}
		}
	}
	trial.do(http.MethodPost, hooksPath, map[string]any{"url": inbox + "first", "events": []string{"*"}}).
		want(t, 201, "")
}
