// Package mailboxdomains looks up the SPF, DKIM and DMARC records of the domains that mail comes from: once a day of a
// domain that has all three, otherwise every hour.
package mailboxdomains

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's and covers all orgs.
type Args struct{}

// Kind is enqueued by the timetable every minute. It nearly always finds little.
var Kind = queue.Define[Args]("mailbox.domains", queue.Options{
	Lane: queue.Remote, MaxAttempts: 2, Timeout: 5 * time.Minute,
})
