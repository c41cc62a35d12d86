package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// The type of a problem is a URL of the host that was asked, and leads to a page that says what to do.
func TestTheTypeOfEveryProblemLeadsToItsPage(t *testing.T) {
	t.Parallel()
	c := acme(t, resolver)
	c.state(standings[0].state)
	public := strings.TrimSuffix(c.Deps.PublicURL, "/")
	for host, site := range map[string]string{"": public, "api.internal": public, acmeHost: "https://" + acmeHost} {
		var problem struct{ Type, Code string }
		headers := []string{"Host", host}
		if host == "" {
			headers = nil
		}
		got := c.stranger().do("GET", "/api/v1/nothing-here", nil, headers...)
		if err := json.Unmarshal(got.Body, &problem); err != nil {
			t.Fatal(err)
		}
		if want := site + "/docs/errors/" + problem.Code; problem.Type != want {
			t.Errorf("host %q: type %q, want %q", host, problem.Type, want)
		}
	}
	list := string(c.stranger().do("GET", "/docs/errors", nil).want(t, 200, "").Body)
	for _, code := range fault.Codes() {
		path := "/docs/errors/" + string(code)
		if !strings.Contains(list, `href="`+path+`"`) {
			t.Errorf("the list has no link to %s", path)
		}
		page := c.stranger().do("GET", path, nil, "Host", acmeHost)
		if page.Status == 429 { // the pages are limited by address
			t.Fatal("the test asks for more pages than an address may")
		}
		body := string(page.want(t, 200, "").Body)
		if !strings.Contains(body, "<h2>What to do</h2>") || !strings.Contains(body, `https://`+acmeHost+path) {
			t.Errorf("%s: %s", path, body)
		}
		if named([]byte(body)) {
			t.Errorf("%s names the platform on a custom domain", path)
		}
	}
	c.stranger().do("GET", "/docs/errors/nonsense", nil).want(t, 404, "not_found")
}
