// Package leadfade scores contacts again whose clicks and replies have become older: their engagement has fallen to a
// lower level since they were scored.
package leadfade

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's.
type Args struct{}

// Kind is enqueued by the timetable.
var Kind = queue.Define[Args]("lead.fade",
	queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 5 * time.Minute})
