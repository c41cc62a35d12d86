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

// Route is one mounted operation, for tests.
type Route struct {
	Method, Path string
	Role         auth.Role // "" for public
	NoKeys       bool
	Status       int
	Writes       []string
	JSON         bool // takes a JSON body
	Part         Part // required part
	Secret       bool // the response contains a secret
}

// Routes returns all mounted operations.
func (a *App) Routes() []Route {
	var all []Route
	for _, o := range a.ops {
		all = append(all,
			Route{o.Method, o.Path, o.Need.role, o.Need.noKeys, o.Status, o.Writes, o.json, o.Part, o.Secret})
	}
	return all
}

// Negotiate is negotiate, for tests.
var Negotiate = negotiate

// NewWithThings is New with the routes of things_test.go.
func NewWithThings(d Deps) *App { return build(d, mountThings) }

// NewWithHosted is New with a hosted page that shows its org.
func NewWithHosted(d Deps) *App {
	return build(d, func(a *App) {
		type whose struct {
			Body struct {
				Org id.ID `json:"org"`
			}
		}
		route(a.Server,
			op{
				Method: http.MethodGet, Path: "/api/v1/test/hosted", Need: public, Tag: "Test", Title: "A hosted page",
				May: []int{http.StatusMisdirectedRequest},
			},
			func(ctx context.Context, _ *struct{}) (*whose, error) {
				org, err := a.tenant(ctx)
				out := &whose{}
				out.Body.Org = org
				return out, err
			})
	})
}

// ScanJSON calls the strict scanner.
func ScanJSON(b []byte) error { return scanJSON(b) }

// Pointer converts huma's dotted location to a JSON pointer.
func Pointer(path string, body []byte) string {
	var at any
	_ = json.Unmarshal(body, &at)
	return pointer(path, at)
}

// Block returns the unit by which an address is limited.
func Block(ip netip.Addr) string { return block(ip) }

// BrandsOf returns the resolver that New would create.
func BrandsOf(d Deps) *branding.Resolver {
	return branding.NewResolver(d.DB, branding.ByPlan(plans.NewService(d.DB, nil).Of))
}

// ServeHTTP handles one request as the listener does.
func (o *Ops) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler.ServeHTTP(w, r) }
