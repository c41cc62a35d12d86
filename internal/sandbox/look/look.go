// Package look is the style sheet of the sandboxes' pages.
package look

import (
	_ "embed"
	"net/http"
)

// Path is where Handler is mounted. The pages link to it.
const Path = "/sandbox/style.css"

// Policy is the content security policy of the pages: no script, no inline style, and forms only to the page's own
// host. OpenPolicy is for a page with a form whose answer leads to another host.
const (
	Policy     = OpenPolicy + "; form-action 'self'"
	OpenPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)

//go:embed style.css
var sheet []byte

// Handler serves the style sheet.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=300")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(sheet) // an error means that the client is gone
	})
}
