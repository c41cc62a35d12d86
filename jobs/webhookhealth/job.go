// Package webhookhealth applies the five-day rule to failing webhook endpoints: it warns at 50 and 90 percent of the
// rule, and disables an endpoint after 5 days of nothing but failures of at least 20 events.
//
// Attempts only record what happened. This job evaluates the rule, so the rule applies in time even if nothing is sent.
package webhookhealth

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's and covers all orgs.
type Args struct{}

// Kind is enqueued by the timetable every minute. Each endpoint has a separate transaction, so it is no Tx kind.
var Kind = queue.Define[Args]("webhook.health",
	queue.Options{Lane: queue.Default, MaxAttempts: 3, Timeout: time.Minute})
