// Package webhookhealth holds failing webhook endpoints to the rule: warned at 50 and 90 percent of it, disabled
// when it is met, which is after 5 days of nothing but failures of at least 20 events.
//
// Attempts write down what happened and judge nothing, so the rule acts at its time even if nothing is sent just
// then.
package webhookhealth

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none: the job is the platform's own and looks at all orgs.
type Args struct{}

// Kind is asked for each minute by the timetable. Each endpoint has a transaction of its own, hence no Tx kind.
var Kind = queue.Define[Args]("webhook.health", queue.Options{Lane: queue.Default, MaxAttempts: 3, Timeout: time.Minute})
