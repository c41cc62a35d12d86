package provider

import (
	"net/http"
	"time"
)

// Options of a Set.
type Options struct {
	// Apps are the operator's, by family; a family without one is not offered.
	Apps map[string]App
	// HTTP carries the requests; nil: NewHTTP(). Its redirects and cookies are not used.
	HTTP *http.Client
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// More are further specs, beside those of Catalogue.
	More []Spec
}

// Set is the providers that this install knows. It is safe for concurrent use.
type Set struct {
	specs  []Spec
	found  map[string]*Provider
	former map[string]*Provider // by platform: with the application of Spec.Instead, beside one of its own
}

// Catalogue answers every spec that is built, in the order of the documentation. An eighth is a file and a line here.
func Catalogue() []Spec {
	return []Spec{
		facebook(), instagram(), linkedin(), linkedinPage(), x(), tiktok(), youtube(), pinterest(),
		metaAds(), linkedinAds(), tiktokAds(), googleAds(), pinterestAds(),
	}
}

// Unsupported are platforms whose names are known and which are not built, and why.
func Unsupported() map[string]string {
	return map[string]string{"x_ads": "X's ads API takes OAuth 1.0a alone"}
}

// New makes the set and asks nobody.
func New(o Options) *Set {
	s := &Set{specs: append(Catalogue(), o.More...), found: map[string]*Provider{}, former: map[string]*Provider{}}
	for _, spec := range s.specs {
		own, other := o.Apps[spec.Family], o.Apps[spec.Instead]
		instead := spec
		instead.Family = spec.Instead // whose budget and whose siblings it shares
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

// Of answers the provider of a platform with the application that a login was made with, so that a platform that was given
// an application of its own goes on with the logins from before. ErrUnconfigured where this install has no such application.
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

// with joins a spec and an app.
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
	p.http = &http.Client{Transport: carrier.Transport, Timeout: carrier.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

// Get answers the provider of a platform, or ErrUnknownPlatform, ErrUnsupported or ErrUnconfigured.
func (s *Set) Get(platform string) (*Provider, error) {
	if p, ok := s.found[platform]; ok {
		return p, nil
	}
	if _, ok := Unsupported()[platform]; ok {
		return nil, ErrUnsupported
	}
	for _, spec := range s.specs {
		if spec.Platform == platform {
			return nil, ErrUnconfigured
		}
	}
	return nil, ErrUnknownPlatform
}

// All answers the providers that are configured, in the order of the catalogue.
func (s *Set) All() []*Provider {
	var all []*Provider
	for _, spec := range s.specs {
		if p, ok := s.found[spec.Platform]; ok {
			all = append(all, p)
		}
	}
	return all
}

// Families answers the names of the applications that the catalogue cannot do without, in its order: those of
// Spec.Instead stand in for the others.
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

// NewHTTP answers a client for the providers' own hosts. A request of it is over after CallTime.
func NewHTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // what the environment says is not a setting of ours
	t.MaxIdleConnsPerHost = 8
	t.IdleConnTimeout = 30 * time.Second
	t.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{Transport: t, Timeout: CallTime}
}
