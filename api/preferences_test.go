package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// chosen returns the choice that a page of preferences shows, and whether it says that mails are stopped.
func chosen(t *testing.T, page answer) (choice string, stopped bool) {
	t.Helper()
	text := string(page.Body)
	before, _, ok := strings.Cut(text, `" checked`)
	if !ok || strings.Count(text, " checked") != 1 {
		t.Fatalf("not one choice in %s", text)
	}
	return before[strings.LastIndex(before, `"`)+1:], strings.Contains(text, "has stopped mails")
}

func TestAContactChoosesItsMails(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	eve := ada.contact("eve@acme.example")
	mail := ada.rendered(eve.ID, compose.Source{Text: "{{ preferences_url }} {{ unsubscribe_url }}"})
	path, _, _ := strings.Cut(mail.Text, " ")
	if !strings.HasPrefix(path, "/t/p/") || path != strings.Replace(mail.UnsubscribeURL, "/t/u/", "/t/p/", 1) {
		t.Fatalf("preferences_url is %s", path)
	}
	ask := s.stranger().do("GET", mail.UnsubscribeURL, nil).want(t, 200, "")
	if !strings.Contains(string(ask.Body), `href="`+path+`"`) {
		t.Errorf("the page for unsubscribing does not lead to %s:\n%s", path, ask.Body)
	}
	for _, step := range []struct{ choose, suppressed, events string }{
		{"personal", "marketing", "1/0"},
		{"none", "all", "1/0"},
		{"none", "all", "1/0"},
		{"personal", "marketing", "1/0"},
		{"all", "", "1/1"},
		{"none", "all", "2/1"},
		{"all", "", "2/2"},
	} {
		saved := s.pressed(path, "mails="+step.choose).want(t, 200, "")
		if got, _ := chosen(t, saved); got != step.choose || !strings.Contains(string(saved.Body), "Saved") {
			t.Errorf("%s: the page shows %s:\n%s", step.choose, got, saved.Body)
		}
		later := s.stranger().do("GET", path, nil).want(t, 200, "")
		if got, stopped := chosen(t, later); got != step.choose || stopped {
			t.Errorf("%s: a later page shows %s, stopped %v", step.choose, got, stopped)
		}
		var purposes, announced string
		ada.read(&purposes, `SELECT coalesce(string_agg(purpose, ' '), '') FROM suppression
			WHERE org_id = $1 AND lifted_at IS NULL`, ada.Org)
		ada.read(&announced, `SELECT count(*) FILTER (WHERE type = 'contact.unsubscribed') || '/' ||
			count(*) FILTER (WHERE type = 'contact.subscribed') FROM event WHERE org_id = $1`, ada.Org)
		if purposes != step.suppressed || announced != step.events {
			t.Errorf("%s: suppressed %q, events %s; want %q, %s", step.choose, purposes, announced, step.suppressed,
				step.events)
		}
	}
}

func TestAChoiceDoesNotLiftWhatOthersHaveStopped(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	eve := ada.contact("eve@acme.example")
	path := strings.Replace(ada.rendered(eve.ID, compose.Source{Text: "x"}).UnsubscribeURL, "/t/u/", "/t/p/", 1)
	ada.do(http.MethodPost, "/api/v1/suppressions", `{"email":"eve@acme.example","purpose":"all","reason":"`+
		suppression.Complaint+`"}`).want(t, 201, "")
	for range 2 {
		page := s.pressed(path, "mails=all").want(t, 200, "")
		if _, stopped := chosen(t, page); !stopped {
			t.Errorf("the page is silent about the stop:\n%s", page.Body)
		}
	}
	if n := s.count("suppression WHERE org_id = $1 AND lifted_at IS NULL", ada.Org); n != 1 {
		t.Errorf("%d suppressions are in force", n)
	}
	for _, form := range []string{"mails=", "mails=everything", "%", "List-Unsubscribe=One-Click"} {
		s.pressed(path, form).want(t, 200, "")
	}
	for _, token := range []string{"x", strings.Repeat("A", 80)} {
		if got, _ := chosen(t, s.pressed("/t/p/"+token, "mails=none").want(t, 200, "")); got != "none" {
			t.Errorf("an unknown token shows %s", got)
		}
	}
	if n := s.count("suppression WHERE org_id = $1", ada.Org); n != 1 {
		t.Errorf("%d suppressions", n)
	}
}

// Scanners of mails follow every link, with GET and HEAD. What the pages of mails do is done by a POST alone, at once.
func TestScannersDoNothingAndOnePostActsWithinASecond(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	for name, page := range map[string]struct{ path, form, want string }{
		"unsubscribing": {"/t/u/", oneClick, "marketing - contact.unsubscribed"},
		"preferences":   {"/t/p/", "mails=none", "all - contact.unsubscribed"},
		"double opt-in": {"/t/s/", oneClick, "- confirmed contact.subscribed"},
	} {
		c := s.signup()
		eve := c.contact("eve@acme.example")
		link := strings.Replace(c.rendered(eve.ID, compose.Source{Text: "x"}).UnsubscribeURL, "/t/u/", page.path, 1)
		if page.path == "/t/s/" {
			c.do(http.MethodPost, contactsPath+"/"+eve.ID+"/request-consent", nil).want(t, 202, "")
			letters := s.letters("eve@acme.example")
			_, rest, _ := strings.Cut(letters[len(letters)-1].Text, "/t/s/")
			link = "/t/s/" + strings.Fields(rest)[0]
		}
		state := func() (out string) {
			c.read(&out, `SELECT concat_ws(' ', coalesce((SELECT string_agg(purpose, ' ') FROM suppression
					WHERE org_id = $1 AND lifted_at IS NULL), '-'),
				coalesce((SELECT 'confirmed' FROM contact WHERE org_id = $1 AND consent ->> 'confirmed_at' <> ''), '-'),
				(SELECT string_agg(type, ' ') FROM event WHERE org_id = $1
					AND type IN ('contact.subscribed', 'contact.unsubscribed')))`, c.Org)
			return out
		}
		for i := range 20 {
			method := []string{http.MethodGet, http.MethodHead}[i%2]
			s.stranger().do(method, link, nil, "User-Agent", "Mozilla/5.0 (compatible; Mimecast)").want(t, 200, "")
		}
		if got := state(); got != "- -" {
			t.Errorf("%s: after 20 scanners %s", name, got)
		}
		s.pressed(link, page.form).want(t, 200, "")
		if got := state(); got != page.want {
			t.Errorf("%s: at once it is %q, want %q", name, got, page.want)
		}
	}
	if n := s.count("suppression WHERE org_id = $1", ada.Org); n != 0 {
		t.Errorf("%d suppressions of another org", n)
	}
}

// read scans one value.
func (c *caller) read(to any, sql string, args ...any) {
	c.Helper()
	if err := testkit.Pgx(c, c.DB.URL).QueryRow(c.Context(), sql, args...).Scan(to); err != nil {
		c.Fatalf("%s: %v", sql, err)
	}
}
