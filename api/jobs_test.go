package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type jobBody struct {
	ID, Kind, Status, Href string
	Done                   int64
	Total                  *int64
	CreatedAt              time.Time `json:"created_at"`
}

func (c *caller) jobs(query string) (all []jobBody) {
	c.Helper()
	for next := ""; ; {
		var l struct {
			Data       []jobBody
			NextCursor *string `json:"next_cursor"`
		}
		c.do(http.MethodGet, "/api/v1/jobs?limit=2"+query+next, nil).want(c, 200, "").into(c, &l)
		if all = append(all, l.Data...); l.NextCursor == nil {
			return all
		}
		next = "&cursor=" + *l.NextCursor
	}
}

func TestLongWorkIsListedWithItsProgressAndPage(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	ada.contact("ada@acme.example", `,"tag":"vip"`)
	var hook struct{ ID string }
	ada.do(http.MethodPost, "/api/v1/webhooks", `{"url":"https://93.184.216.34/","events":["*"]}`).
		want(t, 201, "").into(t, &hook)
	var kinds []string
	for _, c := range []struct{ kind, method, path, body string }{
		{"export", "POST", "/api/v1/crm/contacts/exports", `{"format":"csv"}`},
		{"bulk", "POST", "/api/v1/crm/contacts/bulk", `{"action":{"type":"tag","add":["x"]},"filter":{"all":[]}}`},
		{"bulk", "PATCH", "/api/v1/crm/tags/vip", `{"name":"star"}`},
		{
			"replay", "POST", "/api/v1/webhooks/" + hook.ID + "/replay",
			fmt.Sprintf(`{"from":%q,"to":%q}`, time.Now().Add(-time.Hour).Format(time.RFC3339),
				time.Now().Add(time.Hour).Format(time.RFC3339)),
		},
		{"train", "POST", "/api/v1/ai/score-model/train", ""},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		got := ada.do(c.method, c.path, body).want(t, 202, "")
		ada.do(http.MethodGet, got.Header.Get("Location"), nil).want(t, 200, "")
		newest := ada.jobs("")[0]
		if newest.Kind != c.kind || newest.Status != "queued" || newest.Done != 0 {
			t.Errorf("%s: the newest job is %+v", c.kind, newest)
		}
		ada.do(http.MethodGet, newest.Href, nil).want(t, 200, "")
		var one jobBody
		ada.do(http.MethodGet, "/api/v1/jobs/"+newest.ID, nil).want(t, 200, "").into(t, &one)
		if diff := cmp.Diff(newest, one); diff != "" {
			t.Errorf("%s (-list +one):\n%s", c.kind, diff)
		}
		stranger.do(http.MethodGet, "/api/v1/jobs/"+newest.ID, nil).want(t, 404, "not_found")
		kinds = append([]string{c.kind}, kinds...)
	}
	var listed []string
	for _, j := range ada.jobs("") {
		listed = append(listed, j.Kind)
	}
	if diff := cmp.Diff(kinds, listed); diff != "" {
		t.Errorf("jobs, newest first (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{
		"&kind=bulk": 2, "&kind=broadcast": 0, "&status=queued": 5, "&status=completed": 0,
		"&kind=train&status=queued": 1,
	} {
		if n := len(ada.jobs(query)); n != want {
			t.Errorf("%s: %d jobs, want %d", query, n, want)
		}
	}
	if n := len(stranger.jobs("")); n != 0 {
		t.Errorf("another org has %d jobs", n)
	}
	location := ada.do(http.MethodPost, "/api/v1/crm/contacts/duplicates/search", nil).want(t, 202, "").
		Header.Get("Location")
	ada.do(http.MethodGet, location, nil).want(t, 200, "")
}
