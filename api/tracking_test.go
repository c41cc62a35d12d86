package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// addressIn returns the path of the first of our addresses below path in an HTML document.
func (c *caller) addressIn(document, path string) string {
	c.Helper()
	_, rest, ok := strings.Cut(document, c.Deps.PublicURL+path)
	if !ok {
		c.Fatalf("no %s in %s", path, document)
	}
	token, _, _ := strings.Cut(rest, `"`)
	return path + token
}

// otherLetter returns a letter that is not the given one.
func otherLetter(b byte) byte {
	if b == 'A' {
		return 'B'
	}
	return 'A'
}

func TestATrackedEmailOpensAndLeadsToItsTargets(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	c := s.signup()
	var contact, box struct{ ID string }
	c.do("POST", "/api/v1/crm/contacts", `{"email":"ada@example.com","first_name":"Ada","last_name":"L"}`).
		want(t, 201, "").into(t, &contact)
	c.do("POST", "/api/v1/mailboxes", `{"kind":"sandbox","from_email":"hello@shop.example"}`).want(t, 201, "").
		into(t, &box)
	var mail struct{ HTML string }
	c.do("POST", "/api/v1/crm/emails", `{"contact_id":"`+contact.ID+`","mailbox_id":"`+box.ID+`","subject":"Hello",`+
		`"html":"<p><a href=\"https://shop.example/a?b=1&amp;c=2\">Look</a></p>",`+
		`"tracking":{"opens":true,"clicks":true}}`).
		want(t, 201, "").into(t, &mail)
	pixel := c.do("GET", c.addressIn(mail.HTML, "/t/o/")+"?utm_source=x", nil).want(t, 200, "")
	if pixel.Header.Get("Content-Type") != "image/gif" || pixel.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("pixel: %v", pixel.Header)
	}
	link := c.addressIn(mail.HTML, "/t/c/")
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		got := c.do(method, link+"?fbclid=y&url=https://evil.example/&target=https://evil.example/"+
			"&redirect=https://evil.example/&u=https://evil.example/&to=//evil.example/", nil).want(t, 302, "")
		if got.Header.Get("Location") != "https://shop.example/a?b=1&c=2" {
			t.Errorf("%s leads to %q", method, got.Header.Get("Location"))
		}
	}
	other := c.do("GET", "/t/o/"+strings.TrimPrefix(link, "/t/c/"), nil).want(t, 200, "")
	if !strings.HasPrefix(string(other.Body), "GIF") {
		t.Errorf("a link's token as a pixel: %q", other.Body)
	}
	for _, wrong := range []string{
		"/t/c/" + strings.TrimPrefix(c.addressIn(mail.HTML, "/t/o/"), "/t/o/"), // the pixel's token
		link[:len(link)-1] + "_", "/t/c/x", // not encoded as tokens are
		link[:len(link)-4] + string(otherLetter(link[len(link)-4])) + link[len(link)-3:], // not signed by the org's key
	} {
		got := c.do("GET", wrong, nil).want(t, 404, "not_found")
		if got.Header.Get("Location") != "" {
			t.Errorf("%s: %v", wrong, got.Header)
		}
	}
	var hits int
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(), `SELECT count(*) FROM email_hit`).Scan(&hits); err != nil {
		t.Fatal(err)
	}
	if hits != 3 { // the pixel, GET and HEAD of the link
		t.Errorf("%d hits, want 3", hits)
	}
}

func TestABrowserGetsAPageForALinkThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/t/c/nobodys", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	res, err := keepAlive.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusNotFound ||
		!strings.Contains(string(page), "<h1>Link not found</h1>") {
		t.Errorf("%d %s %v", res.StatusCode, page, err)
	}
}
