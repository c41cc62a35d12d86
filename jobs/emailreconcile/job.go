// Package emailreconcile looks for evidence of an email whose fate is unknown.
//
// Evidence is the mail's Message-ID in the Sent folder of its mailbox. A mail that is found was sent. A mail that is
// absent 15 and 30 minutes after its mark from a mailbox that is known to file there what it sends (sent_proof) was
// not, and is sent once more with the same Message-ID. Otherwise there is no evidence to be had: the email stays
// unknown until a person resolves it. Nothing is ever sent again without evidence.
//
// A server that does not answer is asked again up to twenty times. A sign-in that is refused is not repeated.
package emailreconcile

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the email.
type Args struct {
	Email id.ID `json:"email"`
}

// Kind searches once per run.
var Kind = queue.Define[Args]("email.reconcile", queue.Options{
	Lane: queue.Remote, MaxAttempts: 20, Timeout: 2 * time.Minute,
	Backoff: func(failed int) time.Duration {
		return queue.Jitter(min(time.Duration(failed)*5*time.Minute, time.Hour), 0.2)
	},
})
