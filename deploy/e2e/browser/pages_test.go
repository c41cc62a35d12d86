package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Each page loads what it needs from its own host only, and its policy blocks nothing that it needs.
func TestNoPageAsksAnotherHost(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	api, ops := serve(t)
	pages := map[string]string{ // by address: a selector of an element that the page's scripts create, or of the body
		api + "/":                       "body",
		api + "/docs":                   ".swagger-ui .opblock",
		api + "/docs/webhooks":          "h1, h2",
		api + "/login":                  "form input[type=password]",
		ops + "/":                       "li a",
		ops + "/queues/":                "#root table tbody tr",
		ops + "/queues/queues/default":  "#root header",
		ops + "/queues/servers":         "#root table",
		ops + "/queues/schedulers":      "#root header",
		ops + "/queues/redis":           "#root header",
		ops + "/queues/settings":        "#root header",
		ops + "/queues/queues/webhooks": "#root header",
	}
	links := b.links(ops + "/")
	sandboxes := 0
	for _, at := range links {
		if strings.Contains(at, "/sandbox/") || strings.HasSuffix(at, "/jobs/") {
			pages[at], sandboxes = "body", sandboxes+1
		}
	}
	if sandboxes < 4 {
		t.Errorf("operations links to %q", links)
	}
	for at, selector := range pages {
		for _, wrong := range b.visit(at, selector) {
			t.Errorf("%s: %s", at, wrong)
		}
	}
}

// The test above can fail: a page with a foreign image, and one whose script its policy blocks.
func TestARequestToAnotherHostIsSeen(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for name, tc := range map[string]struct{ page, policy, want string }{
		"an image":            {`<img src="http://fonts.example/x.png">`, "", "fonts.example"},
		"a style's font":      {`<style>@import "https://fonts.example/a.css";</style>`, "", "fonts.example"},
		"a script's request":  {`<script>fetch("https://tracker.example/")</script>`, "", "tracker.example"},
		"what a policy stops": {`<script>1</script>`, "default-src 'none'; img-src data:", "Content Security Policy"},
		"nothing":             {`<p>hello</p>`, "default-src 'none'; img-src data:", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if tc.policy != "" {
				w.Header().Set("Content-Security-Policy", tc.policy)
			}
			_, _ = w.Write([]byte("<!doctype html><link rel=icon href=data:,><body>" + tc.page))
		}))
		t.Cleanup(s.Close)
		wrong := strings.Join(b.visit(s.URL+"/", "body"), "\n")
		if (wrong == "") != (tc.want == "") || !strings.Contains(wrong, tc.want) {
			t.Errorf("%s: found %q, want %q", name, wrong, tc.want)
		}
	}
}
