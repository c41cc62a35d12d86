package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/contactduplicates"
)

const duplicatesPath = contactsPath + "/duplicates"

type duplicateGroups struct {
	Data []struct {
		Reason   string
		Contacts []struct{ ID, Email string }
	}
	HasMore     bool    `json:"has_more"`
	NextCursor  *string `json:"next_cursor"`
	AskedAt     *string `json:"asked_at"`
	CompletedAt *string `json:"completed_at"`
}

// text returns "reason: emails" per group.
func (d duplicateGroups) text() string {
	var out []string
	for _, g := range d.Data {
		var emails []string
		for _, c := range g.Contacts {
			emails = append(emails, c.Email)
		}
		out = append(out, g.Reason+": "+strings.Join(emails, " "))
	}
	return strings.Join(out, "\n")
}

func (c *caller) duplicates(query string) (d duplicateGroups) {
	c.Helper()
	c.do(http.MethodGet, duplicatesPath+query, nil).want(c, 200, "").into(c, &d)
	return d
}

// search requests a search and runs its job.
func (c *caller) search() {
	c.Helper()
	c.do(http.MethodPost, duplicatesPath+"/search", nil).want(c, 202, "")
	c.do(http.MethodPost, duplicatesPath+"/search", nil).want(c, 202, "") // one job
	var job id.ID
	if err := testkit.Pgx(c, c.DB.URL).QueryRow(c.Context(),
		`SELECT id FROM job WHERE org_id = $1 AND kind = 'contact.duplicates'`, c.Org).Scan(&job); err != nil {
		c.Fatal(err)
	}
	ledger := store.New(c.DB.App, c.DB.System)
	run, err := ledger.Claim(c.Context(), c.Org, job)
	if err != nil {
		c.Fatal(err)
	}
	if err := (contactduplicates.Job{App: c.DB.App}).Handler().Call(c.Context(), run); err != nil {
		c.Fatal(err)
	}
	if err := ledger.Finish(c.Context(), run, store.Completion{Outcome: store.Done}); err != nil {
		c.Fatal(err)
	}
}

func TestContactsThatMayBeOnePersonAreFound(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	before := ada.duplicates("")
	if len(before.Data) != 0 {
		t.Errorf("before the search: %+v", before.Data)
	}
	if before.AskedAt != nil || before.CompletedAt != nil {
		t.Errorf("before the search: asked_at %v, completed_at %v; want neither", before.AskedAt, before.CompletedAt)
	}
	company := `,"company_id":"01890000-0000-7000-8000-000000000001"`
	for _, c := range []struct{ email, more string }{
		{"ada@acme.example", ""},
		{"ada+news@acme.example", ""},
		{"ada.l@acme.example", ""}, // dots are significant outside Gmail
		{"a.d.a@gmail.com", ""},
		{"ada+x@googlemail.com", ""},
		{"x1@a.example", company},
		{"x2@b.example", company},
		{"x3@c.example", `,"company_id":"01890000-0000-7000-8000-000000000002"`},
		{"p1@a.example", `,"first_name":"P","phone":"+49 30 1234567"`},
		{"p2@a.example", `,"first_name":"Q","phone":"0049-30-1234567"`},
		{"n1@a.example", `,"first_name":"N","phone":"030 7654321","country":"DE"`},
		{"n2@a.example", `,"first_name":"O","phone":"+49 (0)30 7654321"`},
		{"n3@a.example", `,"first_name":"T","phone":"030 7654321","country":"FR"`},
		{"p3@a.example", `,"first_name":"R","phone":"12345"`},
		{"p4@a.example", `,"first_name":"S","phone":"12345"`},
	} {
		body := fmt.Sprintf(`{"email":%q,"first_name":"Ada","last_name":"L"%s}`, c.email, c.more)
		if strings.Contains(c.more, "first_name") {
			body = fmt.Sprintf(`{"email":%q,"last_name":"L"%s}`, c.email, c.more)
		}
		ada.do(http.MethodPost, contactsPath, body).want(t, 201, "")
	}
	stranger.contact("ada+other@acme.example")
	ada.search()
	want := "email: ada@acme.example ada+news@acme.example\nemail: a.d.a@gmail.com " +
		"ada+x@googlemail.com\nname_company: x1@a.example x2@b.example\nphone: p1@a.example p2@a.example\n" +
		"phone: n1@a.example n2@a.example"
	all := ada.duplicates("")
	if diff := cmp.Diff(want, all.text()); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
	if all.CompletedAt == nil || all.HasMore {
		t.Errorf("completed_at %v, has_more %v; want a time, false", all.CompletedAt, all.HasMore)
	}
	if got := ada.duplicates("?reason=phone").text(); got != "phone: p1@a.example p2@a.example\n"+
		"phone: n1@a.example n2@a.example" {
		t.Errorf("by phone: %s", got)
	}
	var walked []string
	for query := "?limit=1"; ; {
		page := ada.duplicates(query)
		walked = append(walked, page.text())
		if page.NextCursor == nil {
			break
		}
		query = "?limit=1&cursor=" + *page.NextCursor
	}
	if got := strings.Join(walked, "\n"); got != want || len(walked) != 5 {
		t.Errorf("page by page\n%s", got)
	}
	if d := stranger.duplicates(""); len(d.Data) != 0 || d.CompletedAt != nil {
		t.Errorf("another org sees %+v", d)
	}
	ada.do(http.MethodDelete, contactsPath+"/"+all.Data[0].Contacts[1].ID, nil).want(t, 204, "")
	if got := ada.duplicates("?reason=email").text(); got != "email: a.d.a@gmail.com ada+x@googlemail.com" {
		t.Errorf("after one was archived: %s", got)
	}
	ada.search() // earlier findings are gone
	if got := ada.duplicates("?reason=email").text(); got != "email: a.d.a@gmail.com ada+x@googlemail.com" {
		t.Errorf("after another search: %s", got)
	}
	ada.do(http.MethodGet, duplicatesPath+"?reason=looks", nil).want(t, 400, "invalid_parameter")
	ada.as(auth.Viewer).do(http.MethodPost, duplicatesPath+"/search", nil).want(t, 403, "forbidden")
}
