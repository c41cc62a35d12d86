// Package systemmail sends one mail of the platform itself, by SMTP where a server is set, else into the
// sandbox mailbox.
package systemmail

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the mail's row, of the job's org. Where there is none, there is nothing to do.
type Args struct {
	Mail id.ID `json:"mail"`
}

// Kind is in the critical lane, because a person waits for the link. Ten tries span about a day.
var Kind = queue.Define[Args]("mail.system", queue.Options{
	Lane: queue.Critical, MaxAttempts: 10, Timeout: time.Minute,
	Backoff: func(failed int) time.Duration {
		return queue.Jitter(min(5*time.Second<<min(2*failed, 20), 6*time.Hour), 0.2)
	},
})
