// Package platformredrive executes a redrive: it reruns the dead jobs that match a filter, at a limited rate.
package platformredrive

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a redrive. Its row holds the filter, the rate and the progress.
type Args struct {
	Redrive id.ID `json:"redrive"`
}

// Kind is enqueued in the transaction that stores a redrive. Each step is a separate transaction that respects the
// rate, so a run may be killed or run twice. The attempts outlast a long outage of Postgres.
var Kind = queue.Define[Args]("platform.redrive", queue.Options{
	Lane: queue.Bulk, MaxAttempts: 100, Timeout: time.Minute,
	Backoff: func(int) time.Duration { return queue.Jitter(5*time.Second, 0.2) },
})
