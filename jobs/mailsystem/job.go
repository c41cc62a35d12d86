// Package mailsystem sends one mail of the platform, by SMTP if a server is configured, otherwise to the sandbox
// mailbox.
package mailsystem

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the mail's row in the job's org. If the row does not exist, the job does nothing.
type Args struct {
	Mail id.ID `json:"mail"`
}

// Kind is in the critical lane, because a person waits for the link. Ten attempts span about a day.
var Kind = queue.Define[Args]("mail.system", queue.Options{
	Lane: queue.Critical, MaxAttempts: 10, Timeout: time.Minute,
	Backoff: func(failed int) time.Duration {
		return queue.Jitter(min(5*time.Second<<min(2*failed, 20), 6*time.Hour), 0.2)
	},
})
