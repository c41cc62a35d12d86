package api

import (
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Part is something outside the product that an install may run without. Its value is what /readyz and problems show.
type Part string

// The parts.
const (
	PartBilling Part = "billing" // Stripe
	PartOAuth   Part = "oauth"   // every application at a social network or ad platform
	PartMail    Part = "mail"    // the server for the platform's mails
	PartAI      Part = "ai"      // the provider of language models
)

// unconfiguredWait is the Retry-After of not_configured: an operator has to act first.
const unconfiguredWait = 5 * time.Minute

// has reports whether the install has the part.
func (a *App) has(p Part) bool { return !slices.Contains(a.NotConfigured, p) }

// configured returns the fault not_configured where the install lacks the part that an operation needs.
func (a *App) configured(o *op) error {
	if o.Part == "" || a.has(o.Part) {
		return nil
	}
	return notConfigured(o.Part)
}

// notConfigured is the answer of an operation whose part the install lacks.
func notConfigured(p Part) *fault.Fault {
	detail := map[Part]string{
		PartBilling: "Billing is not configured on this install. Its operator can set STRIPE_SECRET_KEY.",
		PartOAuth:   "This install has no application registered with the platform. Its operator can set one.",
		PartMail:    "This install sends no mail. Its operator can set FUNNELWORK_SMTP_URL.",
		PartAI:      "This install has no provider of language models. Its operator can set FUNNELWORK_AI_KEY.",
	}[p]
	more := map[string]any{"part": p}
	return &fault.Fault{Code: fault.NotConfigured, Detail: detail, RetryAfter: unconfiguredWait, More: more}
}
