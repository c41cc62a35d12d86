// Package scoretrainnight enqueues a training (jobs/scoretrain) for each org with outcomes that no training has used.
package scoretrainnight

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's.
type Args struct{}

// Kind is enqueued by the timetable once a night.
var Kind = queue.Define[Args]("score.train_night",
	queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 5 * time.Minute})
