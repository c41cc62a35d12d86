package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
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
	JSON         bool       // takes a JSON body
	Part         httpx.Part // required part
	Secret       bool       // the response contains a secret
	Console      bool       // honours the console's cookie, and takes no other pages' requests
	Feature      string     // required plan feature
}

// Routes returns all mounted operations.
func (a *App) Routes() []Route {
	var all []Route
	for _, o := range a.Ops {
		all = append(all,
			Route{
				o.Method, o.Path, o.Need.Role, o.Need.NoKeys, o.Status, o.Writes, o.TakesJSON, o.Part, o.Secret,
				o.Console, o.Feature,
			})
	}
	return all
}

// Comment sets the interval between the comments of a stream. It must be called before the first one.
func (a *App) Comment(every time.Duration) { a.comments = every }

// Followed returns the number of feeds that are polled for streams.
func (a *App) Followed() int { return a.tails.Feeds() }

// Negotiate is negotiate, for tests.
var Negotiate = httpx.Negotiate

// NewWithThings is New with the routes of things_test.go.
func NewWithThings(d Deps) *App { return newApp(d, mountThings) }

// NewWithID is New with one more operation, of the given id.
func NewWithID(d Deps, operation string) *App {
	return newApp(d, func(a *App) {
		httpx.Route(
			a.Server,
			httpx.Op{ID: operation, Method: http.MethodGet, Path: "/api/v1/test/id", Tag: "Test", Title: "An id"},
			func(context.Context, *struct{}) (*struct{}, error) { return &struct{}{}, nil },
		)
	})
}

// NewWithHosted is New with a hosted page that shows its org.
func NewWithHosted(d Deps) *App {
	return newApp(d, func(a *App) {
		type whose struct {
			Body struct {
				Org id.ID `json:"org"`
			}
		}
		httpx.Route(a.Server,
			httpx.Op{
				ID:     "hosted.get",
				Method: http.MethodGet,
				Path:   "/api/v1/test/hosted",
				Need:   httpx.Public,
				Tag:    "Test",
				Title:  "A hosted page",
				May:    []int{http.StatusMisdirectedRequest},
			},
			func(ctx context.Context, _ *struct{}) (*whose, error) {
				org, err := a.Tenant(ctx)
				out := &whose{}
				out.Body.Org = org
				return out, err
			})
	})
}

// ScanJSON calls the strict scanner.
func ScanJSON(b []byte) error { return httpx.ScanJSON(b) }

// Pointer converts huma's dotted location to a JSON pointer.
func Pointer(path string, body []byte) string {
	var at any
	_ = json.Unmarshal(body, &at)
	return httpx.Pointer(path, at)
}

// Block returns the unit by which an address is limited.
func Block(ip netip.Addr) string { return httpx.AddressBlock(ip) }

// BrandsOf returns the resolver that New would create.
func BrandsOf(d Deps) *branding.Resolver {
	return branding.NewResolver(d.DB, branding.ByPlan(plans.NewService(d.DB, nil).Of))
}
