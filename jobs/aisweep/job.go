// Package aisweep charges AI tokens that a request reserved before its process died. The actual usage is unknown, so
// the estimate is charged.
package aisweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's.
type Args struct{}

// Kind is enqueued by the timetable.
var Kind = queue.Define[Args]("ai.sweep", queue.Options{Lane: queue.Critical, MaxAttempts: 3, Timeout: time.Minute})
