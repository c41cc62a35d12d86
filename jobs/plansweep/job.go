// Package plansweep finds the orgs with limits from an older catalogue and enqueues their settling: all orgs after the
// plans were edited, and an org with an interrupted signup.
package plansweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's.
type Args struct{}

// Kind is enqueued by the timetable every minute. It nearly always finds nothing.
var Kind = queue.Define[Args]("plan.sweep", queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 5 * time.Minute})
