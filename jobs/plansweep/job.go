// Package plansweep finds the orgs whose limits were taken from another catalogue than today's, and has them settled:
// all of them after the plans were edited, and one whose signup was cut short.
package plansweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none: the job is the platform's own.
type Args struct{}

// Kind is asked for each minute by the timetable, and finds nothing nearly always.
var Kind = queue.Define[Args]("plan.sweep", queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 5 * time.Minute})
