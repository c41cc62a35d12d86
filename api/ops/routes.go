package ops

import (
	"net/http"
	"slices"
)

// routes is a ServeMux that keeps the patterns of its JSON routes: METHOD PATH.
type routes struct {
	*http.ServeMux
	patterns []string
}

// json adds a JSON route.
func (r *routes) json(pattern string, h http.Handler) {
	r.Handle(pattern, h)
	r.patterns = append(r.patterns, pattern)
}

// JSONRoutes returns the patterns of the listener's JSON routes, sorted.
func (o *Listener) JSONRoutes() []string { return slices.Sorted(slices.Values(o.patterns)) }
