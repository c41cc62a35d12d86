package ops

import (
	"net/http"
	"slices"
	"strings"
)

// route is a JSON route.
type route struct {
	pattern string // METHOD PATH
	h       jobsHandler
	summary string   // for the document, as the rest
	query   []string // names of its parameters
	in      any      // a value of the type of its body; nil: none
	out     any      // a value of the type of its answer; nil: none
	status  []int    // of success; nil: 200, or 204 without an answer
}

// splitPattern returns the method and the path of the pattern.
func (r *route) splitPattern() (method, path string) {
	method, path, _ = strings.Cut(strings.TrimSuffix(r.pattern, "{$}"), " ")
	return method, path
}

// routes is a ServeMux that keeps its JSON routes.
type routes struct {
	*http.ServeMux
	json []route
}

// add adds JSON routes, which d handles.
func (r *routes) add(d *jobsAPI, all ...route) {
	for _, one := range all {
		r.Handle(one.pattern, d.serveJSON(one.h))
	}
	r.json = append(r.json, all...)
}

// JSONRoutes returns the patterns of the listener's JSON routes, sorted: METHOD PATH.
func (o *Listener) JSONRoutes() []string {
	var all []string
	for i := range o.routes {
		all = append(all, o.routes[i].pattern)
	}
	slices.Sort(all)
	return all
}
