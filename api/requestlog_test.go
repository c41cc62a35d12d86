package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const requestsPath = "/api/v1/request-log"

// startWithLog is start with a request log.
func startWithLog(t *testing.T) *service {
	t.Helper()
	return start(t, unlimited, func(d *api.Deps) {
		d.Requests = requestlog.NewRecorder(d.System, d.Log, nil)
		t.Cleanup(func() { d.Requests.Close(context.WithoutCancel(t.Context())) })
	})
}

// logged is an entry of the request log.
type logged struct {
	ID, Method string
	RequestID  string `json:"request_id"`
	Route      *string
	Status     int
	Code       *string
	TookMS     float64 `json:"took_ms"`
	KeyID      *string `json:"key_id"`
	UserID     *string `json:"user_id"`
	Errors     []struct{ Pointer, Parameter, Code string }
	Body       json.RawMessage
	CreatedAt  time.Time `json:"created_at"`
}

// requests returns the entries that the query selects, once all requests so far are written.
func (c *caller) requests(query string) (all []logged) {
	c.Helper()
	c.Deps.Requests.Flush(c.Context())
	var page struct{ Data []logged }
	c.do(http.MethodGet, requestsPath+query, nil).want(c, 200, "").into(c, &page)
	return page.Data
}

func TestARequestIsFoundByItsIDWithItsStatusItsTimeAndItsCaller(t *testing.T) {
	t.Parallel()
	s := startWithLog(t)
	ada := s.signup()
	key := ada.key("member")
	began := time.Now().Add(-time.Second)
	got := key.do(http.MethodPost, contactsPath,
		`{"email":"grace@acme.example","first_name":"Grace","last_name":"Hopper"}`, "X-Request-Id", "import-17").
		want(t, 201, "")
	if id := got.Header.Get("X-Request-Id"); id != "import-17" {
		t.Fatalf("request id %s", id)
	}
	all := ada.requests("?request_id=import-17")
	if len(all) != 1 {
		t.Fatalf("%d entries, want 1: %+v", len(all), all)
	}
	one := all[0]
	if one.Method != "POST" || *one.Route != contactsPath || one.Status != 201 || one.Code != nil ||
		one.KeyID == nil || one.UserID != nil || string(one.Body) != "null" || len(one.Errors) > 0 {
		t.Errorf("entry %+v", one)
	}
	if one.TookMS <= 0 || one.CreatedAt.Before(began) || one.CreatedAt.After(time.Now().Add(time.Second)) {
		t.Errorf("took %v, at %v", one.TookMS, one.CreatedAt)
	}
	ada.do(http.MethodGet, "/api/v1/nothing", nil, "X-Request-Id", "stray").want(t, 404, "not_found")
	stray := ada.requests("?request_id=stray")
	if len(stray) != 1 || stray[0].Route != nil || *stray[0].Code != "not_found" || stray[0].UserID == nil {
		t.Errorf("a request that no operation matched: %+v", stray)
	}
}

func TestOfAFailedRequestOnlyTheFaultyValuesAreKept(t *testing.T) {
	t.Parallel()
	s := startWithLog(t)
	ada := s.signup()
	for _, c := range []struct{ name, method, path, body, want string }{
		{
			"faulty", http.MethodPost, contactsPath,
			`{"email":"grace@","first_name":"Grace","last_name":"Hopper","attributes":{"size":3},"tag":["a","b"]}`,
			`{"attributes":"[redacted]","email":"grace@","first_name":"[redacted]",` +
				`"last_name":"[redacted]","tag":"[redacted]"}`,
		},
		{
			"unknown", http.MethodPost, contactsPath, `{"first_name":"Grace","last_name":"Hopper","pasword":"hunter2"}`,
			`{"first_name":"[redacted]","last_name":"[redacted]","pasword":"[redacted]"}`,
		},
		{
			"secret", http.MethodPost, "/api/v1/webhooks",
			`{"url":"ftp://me:hunter2@acme.example/?token=abc","events":["*"]}`,
			`{"events":"[redacted]","url":"ftp://[redacted]@acme.example/?[redacted]"}`,
		},
		{"malformed", http.MethodPost, contactsPath, `{"email":`, `null`},
		{
			"login", http.MethodPost, "/api/v1/auth/change-password",
			`{"old_password":"hunter2hunter2","new_password":"x"}`, `null`,
		},
	} {
		got := ada.do(c.method, c.path, c.body, "X-Request-Id", c.name)
		if got.Status < 400 {
			t.Fatalf("%s: %d %s", c.name, got.Status, got.Body)
		}
		all := ada.requests("?request_id=" + c.name)
		if len(all) != 1 {
			t.Fatalf("%s: %d entries", c.name, len(all))
		}
		if diff := cmp.Diff(c.want, string(all[0].Body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", c.name, diff, got.Body)
		}
		if all[0].Code == nil {
			t.Errorf("%s: no code", c.name)
		}
	}
	first := ada.requests("?request_id=faulty")[0]
	if len(first.Errors) != 1 || first.Errors[0].Pointer != "#/email" || first.Errors[0].Code == "" {
		t.Errorf("errors %+v", first.Errors)
	}
	if kept := strings.Join(ada.traces("hunter2"), " "); kept != "" {
		t.Errorf("a secret is kept in %s", kept)
	}
}

func TestTheRequestLogIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	s := startWithLog(t)
	ada := s.signup()
	key := ada.key("admin")
	key.do(http.MethodGet, contactsPath, nil).want(t, 200, "")
	key.do(http.MethodGet, contactsPath+"/nobody", nil).want(t, 404, "")
	ada.do(http.MethodGet, contactsPath+"?limit=0", nil).want(t, 400, "")
	ada.do(http.MethodGet, "/api/v1/me/none", nil).want(t, 404, "")
	keyed := ada.requests("?route=" + contactsPath + "&status=200")
	if len(keyed) != 1 || keyed[0].KeyID == nil {
		t.Fatalf("by route and status: %+v", keyed)
	}
	for query, want := range map[string]int{
		"?status=4xx":                 3,
		"?status=404":                 2,
		"?status=5xx":                 0,
		"?key_id=" + *keyed[0].KeyID:  2,
		"?route=/api/v1/crm/contacts": 2,
		"?route=/api/v1/crm/contacts/{id}&from=2020-01-01T00:00:00z":               1,
		"?to=2020-01-01T00:00:00Z":                                                 0,
		"?status=4xx&to=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339):   3,
		"?status=4xx&from=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339): 0,
	} {
		if got := ada.requests(strings.ReplaceAll(query, "{id}", "%7Bid%7D")); len(got) != want {
			t.Errorf("%s: %d entries, want %d", query, len(got), want)
		}
	}
	for _, query := range []string{"?status=4x", "?status=abc", "?key_id=1", "?from=yesterday", "?limit=201"} {
		ada.do(http.MethodGet, requestsPath+query, nil).want(t, 400, "invalid_parameter")
	}
	ada.requests("")
	var page struct {
		Data       []logged
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	}
	ids := map[string]bool{}
	for query := "?status=4xx&limit=2"; ; query = "?status=4xx&limit=2&cursor=" + *page.NextCursor {
		ada.do(http.MethodGet, requestsPath+query, nil).want(t, 200, "").into(t, &page)
		for _, one := range page.Data {
			ids[one.ID] = true
		}
		if !page.HasMore {
			break
		}
	}
	if len(ids) != 3+5 { // those above, and the faulty queries
		t.Errorf("%d entries on all pages, want 8", len(ids))
	}
}

func TestTheRequestLogIsForAdminsOfTheOrgAlone(t *testing.T) {
	t.Parallel()
	s := startWithLog(t)
	ada := s.signup()
	eve := s.signup()
	ada.do(http.MethodGet, contactsPath, nil, "X-Request-Id", "mine").want(t, 200, "")
	if got := ada.requests("?request_id=mine"); len(got) != 1 {
		t.Fatalf("%d entries, want 1", len(got))
	}
	if got := eve.requests("?request_id=mine"); len(got) != 0 {
		t.Errorf("another org sees %d entries", len(got))
	}
	ada.key("member").do(http.MethodGet, requestsPath, nil).want(t, 403, "forbidden")
	stranger := &caller{service: s, Token: "nonsense"}
	stranger.do(http.MethodGet, contactsPath, nil, "X-Request-Id", "stranger").want(t, 401, "")
	s.Deps.Requests.Flush(t.Context())
	var n int
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(),
		`SELECT count(*) FROM request_log WHERE request_id = 'stranger'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d requests without a credential are kept, %v", n, err)
	}
}

func TestAPurgeReachesWhatIsKeptOfFailedRequests(t *testing.T) {
	t.Parallel()
	s := startWithLog(t)
	ada := s.signup()
	grace := ada.contact("grace@acme.example", `,"phone":"+1 555 0100"`)
	other := ada.contact("other@acme.example")
	patch := func(of, body, id string) {
		ada.do(http.MethodPatch, contactsPath+"/"+of, body, "X-Request-Id", id).want(t, 422, "")
	}
	patch(grace.ID, `{"email":"grace.private@"}`, "own")
	patch(other.ID, `{"stage":"mrs lovelace"}`, "named")
	patch(other.ID, `{"email":"other@"}`, "other")
	ada.requests("")
	ada.do(http.MethodPost, contactsPath+"/"+grace.ID+"/purge", nil).want(t, 204, "")
	for _, text := range []string{"grace.private", "mrs lovelace", grace.ID} {
		for _, table := range ada.traces(text) {
			if table == "request_log" {
				t.Errorf("%q is left in the request log", text)
			}
		}
	}
	for id, kept := range map[string]bool{"own": false, "named": false, "other": true} {
		got := ada.requests("?request_id=" + id)
		if len(got) != 1 || (string(got[0].Body) != "null") != kept {
			t.Errorf("%s: %+v, its body kept: %t", id, got, kept)
		}
	}
}
