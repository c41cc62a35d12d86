package provider

import (
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// Options configures a Set.
type Options struct {
	// Apps holds the operator's applications, by family; a family without one is not offered.
	Apps map[string]App
	// HTTP sends the requests; nil means NewHTTP(). Its redirects and cookies are not used.
	HTTP *http.Client
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// More holds specs in addition to those of Catalogue.
	More []Spec
}

// Set holds the providers of this install. It is safe for concurrent use.
type Set struct {
	specs  []Spec
	found  map[string]*Provider
	former map[string]*Provider // by platform: with the app of Spec.Instead, beside its own
}

// Catalogue returns every spec, in the order of the documentation. To add a network, add a file and a line here.
func Catalogue() []Spec {
	return []Spec{
		facebook(), instagram(), linkedin(), linkedinPage(), x(), tiktok(), youtube(), pinterest(), gmail(),
		outlook(),
		metaAds(), linkedinAds(), tiktokAds(), googleAds(), pinterestAds(), xAds(),
	}
}

// New returns a Set; it makes no request.
func New(o Options) *Set {
	s := &Set{specs: append(Catalogue(), o.More...), found: map[string]*Provider{}, former: map[string]*Provider{}}
	for _, spec := range s.specs {
		own, other := o.Apps[spec.Family], o.Apps[spec.Instead]
		instead := spec
		instead.Family = spec.Instead // it shares that family's budget and siblings
		switch {
		case own.ClientID != "":
			s.found[spec.Platform] = with(spec, own, o)
			if other.ClientID != "" {
				s.former[spec.Platform] = with(instead, other, o)
			}
		case other.ClientID != "":
			s.found[spec.Platform] = with(instead, other, o)
		}
	}
	return s
}

// Of returns the provider of a platform with the application that a login was made with, so that a platform that later
// gets its own application keeps serving the earlier logins. It returns ErrUnconfigured if this install does not have
// that application.
func (s *Set) Of(platform, client string) (*Provider, error) {
	p, err := s.Get(platform)
	if err != nil || p.ClientID() == client {
		return p, err
	}
	if p, ok := s.former[platform]; ok && p.ClientID() == client {
		return p, nil
	}
	return nil, ErrUnconfigured
}

// with returns the provider for a spec and an app.
func with(spec Spec, app App, o Options) *Provider {
	p := &Provider{Spec: spec, app: app, now: o.Now}
	if p.now == nil {
		p.now = time.Now
	}
	carrier := app.HTTP
	if carrier == nil {
		carrier = o.HTTP
	}
	if carrier == nil {
		carrier = NewHTTP()
	}
	p.http = &http.Client{
		Transport: carrier.Transport, Timeout: carrier.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// Get returns the provider of a platform, or ErrUnknownPlatform or ErrUnconfigured.
func (s *Set) Get(platform string) (*Provider, error) {
	if p, ok := s.found[platform]; ok {
		return p, nil
	}
	for _, spec := range s.specs {
		if spec.Platform == platform {
			return nil, ErrUnconfigured
		}
	}
	return nil, ErrUnknownPlatform
}

// All returns the configured providers, in the order of the catalogue.
func (s *Set) All() []*Provider {
	var all []*Provider
	for _, spec := range s.specs {
		if p, ok := s.found[spec.Platform]; ok {
			all = append(all, p)
		}
	}
	return all
}

// Families returns, in the order of the catalogue, the families that need an application; a family with a Spec.Instead
// does not.
func Families() []string {
	var families []string
	seen := map[string]bool{}
	for _, spec := range Catalogue() {
		if !seen[spec.Family] && spec.Instead == "" {
			seen[spec.Family] = true
			families = append(families, spec.Family)
		}
	}
	return families
}

// NewHTTP returns a client for requests to the providers. Each request times out after CallTime.
func NewHTTP() *http.Client {
	t := outbound.NewTransport(nil) // ignores proxies of the environment
	return &http.Client{Transport: t, Timeout: CallTime}
}
