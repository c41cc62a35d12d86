// Package mailboxsweep ends the holds of mailboxes that are over, counts the health of mailboxes, lets their ramps
// grow, and adds the jobs that read their inboxes.
package mailboxsweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: a sweep is a platform job and covers all orgs.
type Args struct{}

// Kind is enqueued by the timetable. A missed sweep does no harm: the next one finds the same mailboxes.
var Kind = queue.Define[Args]("mailbox.sweep", queue.Options{MaxAttempts: 2, Timeout: 30 * time.Second})
