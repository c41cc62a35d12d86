// Package start is the start page of the sandboxes.
package start

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/internal/sandbox/look"
)

// Path is where Handler is mounted. The sandboxes' own pages are below it.
const Path = "/sandbox/"

// Sandbox is a line of the page.
type Sandbox struct {
	Name string `json:"name"` // of what it stands for
	Path string `json:"path"`
	Text string `json:"text"` // what its page shows
}

//go:embed page.html
var source string

// Handler serves the page, or its JSON with ?format=json.
func Handler(all []Sandbox, log *slog.Logger) http.Handler {
	page := template.Must(template.New("start").Parse(source))

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}

		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"sandbox": true, "data": all}) // else the client is gone
			return
		}

		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", look.Policy)
		if err := page.Execute(w, all); err != nil {
			log.WarnContext(r.Context(), "render sandbox start page failed", "error", err)
		}
	})
}
