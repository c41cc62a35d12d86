package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Route is one mounted operation, as tests walk them.
type Route struct {
	Method, Path string
	Role         auth.Role // "" is public
	NoKeys       bool
	Status       int
	Writes       []string
	JSON         bool // takes a JSON body
	Part         Part // what the install must have
	Secret       bool // the answer bears a secret
}

// Routes are all mounted operations.
func (a *App) Routes() []Route {
	var all []Route
	for _, o := range a.ops {
		all = append(all, Route{o.Method, o.Path, o.Need.role, o.Need.noKeys, o.Status, o.Writes, o.json, o.Part, o.Secret})
	}
	return all
}

// Negotiate returns the coding that an Accept-Encoding header likes best, and whether it refuses a body without one.
var Negotiate = negotiate

// NewWithThings is New with the routes of things_test.go.
func NewWithThings(d Deps) *App { return build(d, mountThings) }

// NewWithHosted is New with a hosted page that says whose it is.
func NewWithHosted(d Deps) *App {
	return build(d, func(a *App) {
		type whose struct {
			Body struct {
				Org id.ID `json:"org"`
			}
		}
		route(a, op{Method: http.MethodGet, Path: "/api/v1/test/hosted", Need: public, Tag: "Test", Title: "A hosted page", May: []int{http.StatusMisdirectedRequest}},
			func(ctx context.Context, _ *struct{}) (*whose, error) {
				org, err := a.tenant(ctx)
				out := &whose{}
				out.Body.Org = org
				return out, err
			})
	})
}

// ScanJSON is the strict scanner.
func ScanJSON(b []byte) error { return scanJSON(b) }

// Pointer is how a dotted location of huma's becomes a JSON pointer.
func Pointer(path string, body []byte) string {
	var at any
	_ = json.Unmarshal(body, &at)
	return pointer(path, at)
}

// Block is what an address counts as.
func Block(ip netip.Addr) string { return block(ip) }

// BrandsOf is the resolver that New would make.
func BrandsOf(d Deps) *branding.Resolver {
	return branding.NewResolver(d.DB, branding.ByPlan(plans.NewService(d.DB, nil).Of))
}
