package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const hooksPath = "/api/v1/webhooks"

type hook struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"`
	Description    string   `json:"description"`
	RateLimit      *int     `json:"rate_limit"`
	Enabled        bool     `json:"enabled"`
	DisabledReason *string  `json:"disabled_reason"`
	UpdatedAt      string   `json:"updated_at"`
	ArchivedAt     *string  `json:"archived_at"`
	Secret         *string  `json:"secret"`
}

func (c *caller) hook(more string) (h hook) {
	c.Helper()
	c.do(http.MethodPost, hooksPath, `{"url":"https://example.com/hook","events":["*"]`+more+`}`).want(c, 201, "").
		into(c, &h)
	return h
}

func TestAWebhookIsCreatedReadChangedArchivedAndRestored(t *testing.T) {
	t.Parallel()
	ada := start(t).signup()
	made := ada.do(http.MethodPost, hooksPath,
		`{"url":"https://example.com/hook","events":["contact.created","deal.won"],"description":"mine",`+
			`"rate_limit":50}`).want(t, 201, "")
	var h hook
	made.into(t, &h)
	at := hooksPath + "/" + h.ID
	if location, tag := made.Header.Get("Location"), made.Header.Get("ETag"); location != at || tag != `"1.0"` {
		t.Errorf("Location %q, ETag %q; want %q, %q", location, tag, at, `"1.0"`)
	}
	if h.Secret == nil || !strings.HasPrefix(*h.Secret, "whsec_") {
		t.Errorf("no secret that begins with whsec_: %s", made.Body)
	}
	want := h
	want.Enabled, want.RateLimit = true, new(50)
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	read := ada.do(http.MethodGet, at, nil).want(t, 200, "")
	if strings.Contains(string(read.Body), "secret") || strings.Contains(string(read.Body), *h.Secret) {
		t.Errorf("the secret is shown again: %s", read.Body)
	}
	ada.do(http.MethodGet, at, nil, "If-None-Match", `"1.0"`).want(t, 304, "")

	changed := ada.do(http.MethodPatch, at, `{"enabled":false,"rate_limit":null,"events":["*"]}`, "If-Match", `"1.0"`,
		"Content-Type", "application/merge-patch+json").want(t, 200, "")
	changed.into(t, &h)
	if tag := changed.Header.Get("ETag"); tag != `"2.0"` {
		t.Errorf("ETag %q, want %q", tag, `"2.0"`)
	}
	want = h
	want.Enabled, want.RateLimit, want.Description, want.Events = false, nil, "mine", []string{"*"}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	ada.do(http.MethodPatch, at, `{"enabled":true}`, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	if got := ada.do(http.MethodPatch, at, `{}`).want(t, 200, ""); got.Header.Get("ETag") != `"2.0"` ||
		string(got.Body) != string(changed.Body) {
		t.Errorf("an empty patch: %v %s", got.Header, got.Body)
	}
	ada.do(http.MethodPatch, at, string(changed.Body)).want(t, 200, "") // the whole object, read-only fields included
	if got := ada.do(http.MethodPatch, at, `{"id":"`+id.New().String()+`"}`).
		want(t, 422, "validation_failed"); got.field() != "#/id read_only" {
		t.Errorf("another id: %s", got.Body)
	}
	if got := ada.do(http.MethodPatch, at, `{"url":null}`).
		want(t, 422, "validation_failed"); got.field() != "#/url not_nullable" {
		t.Errorf("url null: %s", got.Body)
	}
	// only rotate-secret changes the secret
	ada.do(http.MethodPatch, at, `{"secret":"0123456789abcdef0123"}`).want(t, 422, "validation_failed")

	ada.do(http.MethodDelete, at, nil, "If-Match", `"1.0"`).want(t, 412, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPatch, at, `{"enabled":true}`).want(t, 404, "not_found")
	ada.do(http.MethodPost, at+"/test", `{"type":"deal.won"}`).want(t, 404, "not_found")
	ada.do(http.MethodGet, at+"?include_archived=true", nil).want(t, 200, "").into(t, &h)
	if h.ArchivedAt == nil {
		t.Error("no archived_at")
	}
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodGet, at, nil).want(t, 200, "")

	var log struct{ Data []struct{ Action string } }
	ada.do(http.MethodGet, "/api/v1/audit-log", nil).want(t, 200, "").into(t, &log)
	var acts []string
	for _, a := range log.Data {
		acts = append(acts, a.Action)
	}
	if want := []string{
		"webhook.restored", "webhook.archived", "webhook.updated",
		"webhook.created",
	}; !slices.Equal(acts, want) {
		t.Errorf("audit log %v, want %v", acts, want)
	}
}

func TestTheURLOfAWebhookLeadsOutside(t *testing.T) {
	t.Parallel()
	ada := start(t).signup()
	for _, url := range []string{
		"http://example.com/", "https://localhost/", "https://127.0.0.1/", "https://0x7f.1/", "https://2130706433/",
		"https://017700000001/", "https://[::1]/",
		"https://[::ffff:10.0.0.1]/", "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://１２７.0.0.1/",
		"https://169.254.169.254/latest/meta-data", "https://192.168.1.1:8443/", "https://100.64.0.1/",
		"ftp://example.com/", "example.com", "https://user:pass@example.com/",
	} {
		got := ada.do(http.MethodPost, hooksPath, map[string]any{"url": url, "events": []string{"*"}})
		got.want(t, 422, "url_not_allowed")
		if got.field() != "#/url url_not_allowed" {
			t.Errorf("%s: %s", url, got.Body)
		}
	}
	for body, field := range map[string]string{
		`{"events":["*"]}`:                                            "#/url required",
		`{"url":"https://example.com"}`:                               "#/events required",
		`{"url":"https://example.com","events":[]}`:                   "#/events required",
		`{"url":"https://example.com","events":["*"],"rate_limit":0}`: "#/rate_limit out_of_range",

		`{"url":"https://example.com","events":["contact.created","contact.gone"]}`: "#/events/1 unknown_event_type",

		`{"url":"https://example.com","events":["*"],"secret":"short"}`:                     "#/secret invalid_length",
		`{"url":"https://example.com","events":["*"],"secret":""}`:                          "#/secret invalid_length",
		`{"url":"https://example.com","events":["*"],"secret":"whsec_0123456789abcdefghi"}`: "#/secret invalid_format",
		`{"url":"https://exa mple.com","events":["*"]}`:                                     "#/url",
	} {
		if got := ada.do(http.MethodPost, hooksPath, body).
			want(t, 422, "validation_failed"); !strings.HasPrefix(got.field(), field) {
			t.Errorf("%s: %s, want %s", body, got.field(), field)
		}
	}
	if h := ada.hook(`,"secret":"correct horse battery"`); *h.Secret != "correct horse battery" {
		t.Errorf("chosen secret: %+v", h)
	}
}

func TestOnlyAdminsChangeWebhooksAndViewersReadThem(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	owner := s.signup()
	h := owner.hook("")
	at := hooksPath + "/" + h.ID
	for _, c := range []*caller{owner.as(auth.Viewer), owner.as(auth.Member)} {
		for _, path := range []string{hooksPath, at, at + "/deliveries", "/api/v1/events", "/api/v1/event-types"} {
			c.do(http.MethodGet, path, nil).want(t, 200, "")
		}
		c.do(http.MethodPost, hooksPath, `{"url":"https://example.com","events":["*"]}`).want(t, 403, "forbidden")
		c.do(http.MethodPatch, at, `{"enabled":false}`).want(t, 403, "forbidden")
		c.do(http.MethodPost, at+"/test", `{"type":"deal.won"}`).want(t, 403, "forbidden")
		c.do(http.MethodDelete, at, nil).want(t, 403, "forbidden")
	}
	owner.as(auth.Admin).do(http.MethodPatch, at, `{"enabled":false}`).want(t, 200, "")
	owner.key(auth.Admin).do(http.MethodPatch, at, `{"enabled":true}`).want(t, 200, "")
	s.stranger().do(http.MethodGet, hooksPath, nil).want(t, 401, "unauthorized")
}

func TestTheAnswerThatShowsASecretIsReplayedAndKeptEncrypted(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.signup()
	body := `{"url":"https://example.com/hook","events":["*"]}`
	first := ada.do(http.MethodPost, hooksPath, body, "Idempotency-Key", "k1").want(t, 201, "")
	again := ada.do(http.MethodPost, hooksPath, body, "Idempotency-Key", "k1").want(t, 201, "")
	type facts struct{ Body, Replayed, Location string }
	if diff := cmp.Diff(facts{string(first.Body), "true", first.Header.Get("Location")}, facts{
		string(again.Body), again.Header.Get("Idempotent-Replayed"), again.Header.Get("Location"),
	}); diff != "" {
		t.Errorf("the second response (-want +got):\n%s", diff)
	}
	var h hook
	first.into(t, &h)
	var stored string
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(), "SELECT encode(answer, 'escape') FROM idempotency_key").
		Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stored, *h.Secret) {
		t.Error("the stored answer shows the secret")
	}
}

type deliveryPage struct {
	Data []struct {
		ID, Status, Trigger string
		WebhookID           string `json:"webhook_id"`
		EventType           string `json:"event_type"`
		Attempts            []any
	}
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
	Total      *int64
}

func TestTestSendsAndDeliveriesAreListedNewestFirstByStatus(t *testing.T) {
	t.Parallel()
	ada := start(t).signup()
	h, other := ada.hook(""), ada.hook("")
	at := hooksPath + "/" + h.ID
	var ids []string
	for _, kind := range []string{"deal.won", "contact.created", "brand.updated"} {
		sent := ada.do(http.MethodPost, at+"/test", `{"type":"`+kind+`"}`).want(t, 202, "")
		var d struct{ ID, Status, Trigger string }
		sent.into(t, &d)
		if d.Status != "pending" || d.Trigger != "test" {
			t.Errorf("status %s, trigger %s; want pending, test", d.Status, d.Trigger)
		}
		if location := sent.Header.Get("Location"); location != "/api/v1/webhook-deliveries/"+d.ID {
			t.Errorf("Location %q of %s", location, d.ID)
		}
		one := ada.do(http.MethodGet, sent.Header.Get("Location"), nil).want(t, 200, "")
		ada.do(http.MethodGet, sent.Header.Get("Location"), nil, "If-None-Match", one.Header.Get("ETag")).
			want(t, 304, "")
		ids = append(ids, d.ID)
	}
	if got := ada.do(http.MethodPost, at+"/test", `{"type":"contact.deleted"}`).
		want(t, 422, "validation_failed"); got.field() != "#/type unknown_event_type" {
		t.Errorf("%s", got.Body)
	}
	slices.Reverse(ids)
	var got []string
	for path := at + "/deliveries?limit=2&status=pending&count=exact"; path != ""; {
		var page deliveryPage
		ada.do(http.MethodGet, path, nil).want(t, 200, "").into(t, &page)
		if page.Total == nil || *page.Total != 3 {
			t.Errorf("total %v", page.Total)
		}
		for _, d := range page.Data {
			got = append(got, d.ID)
		}
		if path = ""; page.HasMore {
			path = at + "/deliveries?limit=2&status=pending&count=exact&cursor=" + *page.NextCursor
		}
	}
	if !slices.Equal(got, ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
	for _, path := range []string{at + "/deliveries?status=delivered", hooksPath + "/" + other.ID + "/deliveries"} {
		var page deliveryPage
		if ada.do(http.MethodGet, path, nil).want(t, 200, "").into(t, &page); len(page.Data) != 0 {
			t.Errorf("%s: %+v", path, page)
		}
	}
	ada.do(http.MethodGet, at+"/deliveries?status=lost", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, hooksPath+"/"+id.New().String()+"/deliveries", nil).want(t, 404, "not_found")
}

type eventPage struct {
	Data []struct {
		Seq   int64
		Type  string
		Actor struct{ Type, ID string }
		Data  struct {
			Object   contact
			Previous map[string]any
		}
		RequestID string `json:"request_id"`
	}
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
}

// tail reads on until n events have arrived, since open transactions of other tests delay the newest briefly.
func (c *caller) tail(query string, n int) (all eventPage) {
	c.Helper()
	deadline, cursor := time.Now().Add(20*time.Second), ""
	for len(all.Data) < n && time.Now().Before(deadline) {
		path := "/api/v1/events?limit=2" + query
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		got := c.do(http.MethodGet, path, nil).want(c, 200, "")
		var page eventPage
		got.into(c, &page)
		var raw struct{ Data []json.RawMessage }
		got.into(c, &raw)
		for _, e := range raw.Data {
			eventstest.Check(c, e)
		}
		all.Data = append(all.Data, page.Data...)
		cursor = page.NextCursor
	}
	return all
}

func TestTheFeedTellsEveryChangeInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, bob := s.signup(), s.signup()
	c := ada.contact("ada@example.com")
	bob.contact("bob@example.com")
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"stage":"sql"}`, "X-Request-Id", "my-request").want(t, 200, "")
	ada.do(http.MethodDelete, contactsPath+"/"+c.ID, nil).want(t, 204, "")
	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/restore", nil).want(t, 200, "")
	all := ada.tail("", 4)
	var types []string
	last := int64(0)
	for _, e := range all.Data {
		types = append(types, e.Type)
		type facts struct{ Contact, Actor, ActorID string }
		if diff := cmp.Diff(facts{c.ID, "user", ada.User.String()},
			facts{e.Data.Object.ID, e.Actor.Type, e.Actor.ID}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Type, diff)
		}
		if e.Seq <= last {
			t.Errorf("%s: seq %d after %d", e.Type, e.Seq, last)
		}
		if e.RequestID == "" {
			t.Errorf("%s has no request_id", e.Type)
		}
		last = e.Seq
	}
	if !slices.Equal(types, []string{"contact.created", "contact.updated", "contact.archived", "contact.restored"}) {
		t.Fatalf("types %v", types)
	}
	type facts struct{ Request, Before, After any }
	e := all.Data[1]
	if diff := cmp.Diff(facts{"my-request", "lead", "sql"},
		facts{e.RequestID, e.Data.Previous["stage"], e.Data.Object.Stage}); diff != "" {
		t.Errorf("the change of stage (-want +got):\n%s", diff)
	}
	if got := ada.tail("&type=contact.archived,contact.restored", 2); len(got.Data) != 2 ||
		got.Data[0].Type != "contact.archived" {
		t.Errorf("%+v", got)
	}
	ada.do(http.MethodGet, "/api/v1/events?type=contact.deleted", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, "/api/v1/events?cursor=abc", nil).want(t, 400, "invalid_cursor")
}

func TestEveryEventTypeIsListedWithItsSchemaAndSample(t *testing.T) {
	t.Parallel()
	var got struct {
		Data []struct {
			Type, Description string
			Schema            map[string]any
			Sample            json.RawMessage
			Live              *bool
		}
	}
	start(t).signup().do(http.MethodGet, "/api/v1/event-types", nil).want(t, 200, "").into(t, &got)
	if len(got.Data) != len(events.Catalogue()) {
		t.Errorf("%d types", len(got.Data))
	}
	for _, e := range got.Data {
		if e.Description == "" || e.Live == nil {
			t.Errorf("%s: description %q, live %v; want both", e.Type, e.Description, e.Live)
		}
		if e.Schema["type"] != "object" {
			t.Errorf("%s: the schema is of the type %v, want object", e.Type, e.Schema["type"])
		}
		eventstest.Check(t, e.Sample)
	}
}
