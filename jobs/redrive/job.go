// Package redrive works off a redrive: dead jobs that fit a filter run again, so many a second.
package redrive

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the redrive, whose row holds its filter, its rate and how far it is.
type Args struct {
	Redrive id.ID `json:"redrive"`
}

// Kind is asked for in the transaction that writes a redrive's row. Each step is a transaction of its own that keeps
// to the rate, so that a run may be killed, or go on twice. Its attempts outlast a Postgres that is away for long.
var Kind = queue.Define[Args]("platform.redrive", queue.Options{
	Lane: queue.Bulk, MaxAttempts: 100, Timeout: time.Minute,
	Backoff: func(int) time.Duration { return queue.Jitter(5*time.Second, 0.2) },
})
