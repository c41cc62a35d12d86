package api_test

import (
	"net/http"
	"time"
)

// tellOfConsole records how the console's pages sign in.
func (r *recorder) tellOfConsole(email, password, org string) {
	r.Helper()
	c := r.stranger()
	login := `{"email":"` + email + `","password":"` + password + `"}`
	got := c.console("login", login)
	r.record("console.login", "", login, got)
	got = c.console("refresh", nil, "Cookie", r.cookie(got))
	r.record("console.refresh", "", nil, got)
	to := `{"org_id":"` + org + `"}`
	got = c.console("switch", to, "Cookie", r.cookie(got))
	r.record("console.switch_org", "", to, got)
	c.console("logout", nil, "Cookie", r.cookie(got)).want(r, http.StatusNoContent, "")
}

// cookie returns the Cookie header of the request after a response.
func (r *recorder) cookie(got answer) string {
	r.Helper()
	return cookieOf(r, got).Name + "=" + cookieOf(r, got).Value
}

// tellOfScreens records what the console's pages read beside records: search, board, jobs, views and the overview.
func (r *recorder) tellOfScreens(c *caller) {
	r.Helper()
	r.call(c, "filter_fields.list", nil)
	r.call(c, "pipelines.board", nil, c.first("/api/v1/crm/pipelines"))
	r.record("search.all", "", nil, c.do(http.MethodGet, "/api/v1/search?q=loom", nil))
	r.call(c, "jobs.list", nil)
	r.call(c, "jobs.get", nil, c.first("/api/v1/jobs?kind=export"))
	r.call(c, "views.put", `{"name":"Leads from London","filter":{"all":[{"field":"stage","op":"eq","value":"lead"},`+
		`{"field":"time_zone","op":"eq","value":"Europe/London"}]},"columns":["email","lead_score","tag"]}`,
		"contacts.london")
	r.call(c, "views.list", nil)
	r.call(c, "events.get", nil, c.first("/api/v1/events?type=contact.created"))
	now := time.Now().UTC()
	days := "?from=" + now.AddDate(0, 0, -1).Format(time.DateOnly) + "&to=" + now.Format(time.DateOnly)
	c.counted(days)
	r.record("overview.get", "", nil, c.do(http.MethodGet, "/api/v1/overview"+days, nil))
}
