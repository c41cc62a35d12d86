// Package webhooks manages an org's webhook endpoints, their secrets and signatures, and the log of deliveries.
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

// Service manages endpoints and deliveries. Its zero value is not usable.
type Service struct {
	Box    *secret.Sealer  // encrypts secrets
	Policy outbound.Policy // decides which URLs are allowed
}

// Endpoint is a webhook endpoint as in the API and in webhook.disabled, without its secret.
type Endpoint = events.Webhook

// Versioned is an endpoint with the two parts of its ETag.
type Versioned struct {
	Endpoint
	Edit, Computed int
}

// New holds the fields of a new endpoint.
type New struct {
	URL         string
	Events      []string
	Secret      string // "": generated
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

// Limits of an endpoint's fields.
const (
	maxDescription = 500
	maxRateLimit   = 10_000
)

// applyTo applies the patch to e and reports whether anything changed.
func (p Patch) applyTo(e *Endpoint) (changed bool, err error) {
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
	e.Events = distinct(e.Events)
	if e.Enabled != before.Enabled { // a caller's decision clears the reason
		e.DisabledReason = nil
	}
	return !sameFields(before, *e), nil
}

// sameFields compares the fields that a patch can change.
func sameFields(a, b Endpoint) bool {
	return a.URL == b.URL && strings.Join(a.Events, ",") == strings.Join(b.Events, ",") &&
		a.Description == b.Description &&
		a.Enabled == b.Enabled && (a.RateLimit == nil) == (b.RateLimit == nil) &&
		(a.RateLimit == nil || *a.RateLimit == *b.RateLimit)
}

// checkEndpoint validates the fields. It validates the URL only if it is new: an endpoint with a URL that is no longer
// allowed can still be renamed or disabled.
func (s *Service) checkEndpoint(e *Endpoint, newURL bool) error {
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
		return fault.Invalid("description", "too_long",
			fmt.Sprintf("A description has at most %d characters.", maxDescription))
	}
	if err := form.CheckLine("description", e.Description); err != nil {
		return err
	}
	if e.RateLimit != nil && (*e.RateLimit < 1 || *e.RateLimit > maxRateLimit) {
		return fault.Invalid("rate_limit", "out_of_range",
			fmt.Sprintf("A rate limit is 1 to %d deliveries per second.", maxRateLimit))
	}
	return nil
}

func (s *Service) checkURL(raw string) error {
	_, err := s.Policy.Check(raw)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, outbound.ErrNotAllowed):
		f := fault.New(fault.URLNotAllowed, "Webhooks go to public https addresses."+s.suggestPolicy(raw)).Because(err)
		f.Fields = []fault.FieldError{{Pointer: "#/url", Code: "url_not_allowed", Detail: asSentence(err)}}
		return f
	default:
		return fault.Invalid("url", "invalid_url", asSentence(err))
	}
}

// suggestPolicy returns advice for an address that is rejected only because it is private or http, or "".
func (s *Service) suggestPolicy(raw string) string {
	open := s.Policy
	open.AllowPrivate = true
	if _, err := open.Check(raw); err != nil {
		return ""
	}
	setting := " An install that may call private and http addresses sets FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true."
	if s.Policy.Inbox == "" {
		return setting
	}
	return " To try webhooks out, subscribe " + s.Policy.Inbox +
		"first: the page at this address shows what arrives." + setting
}

// asSentence returns the policy's error as a sentence; it never contains the URL.
func asSentence(err error) string {
	text := err.Error() + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

func distinct(names []string) []string {
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
