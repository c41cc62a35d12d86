// Package sendingdomains looks up the DNS records of the orgs' sending domains: every hour, and sooner those of a new
// domain or key. A key whose record is found signs from then on.
package sendingdomains

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's and covers all orgs.
type Args struct{}

// Kind is enqueued by the timetable every minute. It nearly always finds little.
var Kind = queue.Define[Args]("sending.domains", queue.Options{
	Lane: queue.Remote, MaxAttempts: 2, Timeout: 5 * time.Minute,
})
