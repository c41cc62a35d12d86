package httpx

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Part is an external service which an install may run without. /readyz and problems show its value.
type Part string

// Parts of an install.
const (
	PartBilling Part = "billing" // Stripe
	PartOAuth   Part = "oauth"   // all applications at social networks and ad platforms
	PartMail    Part = "mail"    // the server for system mail
	PartAI      Part = "ai"      // the provider of language models
)

// unconfiguredWait is the Retry-After of not_configured, which needs an operator to act first.
const unconfiguredWait = 5 * time.Minute

// NotConfigured returns the fault for an operation that needs the missing part p.
func NotConfigured(p Part) *fault.Fault {
	detail := map[Part]string{
		PartBilling: "Billing is not configured on this install. Its operator can set STRIPE_SECRET_KEY.",
		PartOAuth:   "This install has no application registered with the platform. Its operator can set one.",
		PartMail:    "This install sends no mail. Its operator can set FUNNELWORK_SMTP_URL.",
		PartAI:      "This install has no provider of language models. Its operator can set FUNNELWORK_AI_KEY.",
	}[p]
	more := map[string]any{"part": p}
	return &fault.Fault{Code: fault.NotConfigured, Detail: detail, RetryAfter: unconfiguredWait, More: more}
}
