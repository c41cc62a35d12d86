// Package webhooks keeps the endpoints that an org subscribes, their secrets and signatures, and the log of
// what was sent to them.
package webhooks

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Service works on endpoints and deliveries. Its zero value does not.
type Service struct {
	Box    *secret.Box     // seals secrets
	Policy outbound.Policy // says which URLs may be subscribed
}

// Endpoint is a webhook endpoint as the API and webhook.disabled show it, without its secret.
type Endpoint = events.Endpoint

// Versioned is an endpoint with the two parts of its ETag.
type Versioned struct {
	Endpoint
	Edit, Computed int
}

// New is what an endpoint is made from.
type New struct {
	URL         string
	Events      []string
	Secret      string // "": one is made
	Description string
	RateLimit   *int
	Enabled     bool
}

// Patch is a merge patch of an endpoint.
type Patch struct {
	URL         wire.Field[string]
	Events      wire.Field[[]string]
	Description wire.Field[string]
	RateLimit   wire.Field[int]
	Enabled     wire.Field[bool]
}

// Bounds of an endpoint's fields.
const (
	maxDescription = 500
	maxRateLimit   = 10_000
)

// apply writes the patch to e and tells whether anything changed.
func (p Patch) apply(e *Endpoint) (changed bool, err error) {
	for _, f := range []struct {
		name string
		null bool
	}{{"url", p.URL.Null}, {"events", p.Events.Null}, {"enabled", p.Enabled.Null}} {
		if f.null {
			return false, fault.Invalid(f.name, "not_nullable", "This field cannot be cleared.")
		}
	}
	before := *e
	p.URL.Apply(&e.URL)
	p.Events.Apply(&e.Events)
	p.Description.Apply(&e.Description)
	p.Enabled.Apply(&e.Enabled)
	if p.RateLimit.Set {
		e.RateLimit = nil
		if !p.RateLimit.Null {
			e.RateLimit = &p.RateLimit.Value
		}
	}
	e.Events = unique(e.Events)
	if e.Enabled != before.Enabled { // by a person, who knows why
		e.DisabledReason = nil
	}
	return !same(before, *e), nil
}

// same compares what a patch can change.
func same(a, b Endpoint) bool {
	return a.URL == b.URL && strings.Join(a.Events, ",") == strings.Join(b.Events, ",") && a.Description == b.Description &&
		a.Enabled == b.Enabled && (a.RateLimit == nil) == (b.RateLimit == nil) && (a.RateLimit == nil || *a.RateLimit == *b.RateLimit)
}

// check holds the fields to the rules. The URL is only checked where it is new: an endpoint whose URL is no
// longer allowed can still be renamed or switched off.
func (s *Service) check(e *Endpoint, newURL bool) error {
	if newURL {
		if err := s.checkURL(e.URL); err != nil {
			return err
		}
	}
	if len(e.Events) == 0 {
		return fault.Invalid("events", "required", `Name at least one event type, or ["*"] for all.`)
	}
	for i, name := range e.Events {
		if _, ok := events.Lookup(name); !ok && name != "*" {
			return fault.Invalid(fmt.Sprintf("events/%d", i), "unknown_event_type", events.Unknown(name))
		}
	}
	if utf8.RuneCountInString(e.Description) > maxDescription {
		return fault.Invalid("description", "too_long", fmt.Sprintf("A description has at most %d characters.", maxDescription))
	}
	if err := form.CheckLine("description", e.Description); err != nil {
		return err
	}
	if e.RateLimit != nil && (*e.RateLimit < 1 || *e.RateLimit > maxRateLimit) {
		return fault.Invalid("rate_limit", "out_of_range", fmt.Sprintf("A rate limit is 1 to %d deliveries per second.", maxRateLimit))
	}
	return nil
}

func (s *Service) checkURL(raw string) error {
	_, err := s.Policy.Check(raw)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, outbound.ErrNotAllowed):
		f := fault.New(fault.URLNotAllowed, "Webhooks go to public https addresses."+s.instead(raw)).Because(err)
		f.Fields = []fault.Field{{Pointer: "#/url", Code: "url_not_allowed", Detail: sentence(err)}}
		return f
	default:
		return fault.Invalid("url", "invalid_url", sentence(err))
	}
}

// instead returns the sentences about what can be done where an address is refused only because it is private or http.
func (s *Service) instead(raw string) string {
	open := s.Policy
	open.AllowPrivate = true
	if _, err := open.Check(raw); err != nil {
		return ""
	}
	setting := " An install that may call private and http addresses sets FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true."
	if s.Policy.Inbox == "" {
		return setting
	}
	return " To try webhooks out, subscribe " + s.Policy.Inbox + "first: the page at this address shows what arrives." + setting
}

// sentence is the policy's error for people; it never repeats the URL.
func sentence(err error) string {
	text := err.Error() + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

func unique(names []string) []string {
	seen := map[string]bool{}
	out := make([]string, 0, len(names))
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
