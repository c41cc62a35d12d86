// Package emailsend sends one email.
//
// # Why a call-out kind
//
// The SMTP dialogue cannot be undone, so it is held outside any transaction, but for the mark between the body and the
// final dot (internal/emails). What became of the mail and the completion of the job are written in one transaction
// after it. If the worker dies in between, the next run finds the email marked by a run that is gone: it sends nothing
// and records that the fate of the mail is unknown, unless the process has the final reply that the lost run got
// (internal/emails/replyjournal): then it records the outcome of that.
//
// # Attempts
//
//	refused for now (4yz, no connection)      an attempt; the next one follows the plan below
//	421, 4.7.x, sign-in refused               no attempt; the circuit of the mailbox opens
//	the connected account needs a new login   no attempt; the mailbox is held with the reason, and tried again
//	the sender is refused: a daily limit,     no attempt; the mailbox is held with the reason and the reply, and tried
//	not its own address, relaying, a block    again when the limit ends
//	cap reached, mailbox held                 no attempt; the circuit opens until the mailbox may send again
//	gap or ramp of automated mail             no attempt; the job is snoozed
//
// The concurrency key is the mailbox: its slots bound the connections to its server, and its circuit holds its emails.
package emailsend

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the email.
type Args struct {
	Email id.ID `json:"email"`
}

// Kind sends one-to-one emails, for which people wait. jobs/emailsendbulk sends automated ones.
var Kind = queue.Define[Args]("email.send", Options(queue.Default))

// Options returns the options of a kind that sends emails.
func Options(lane queue.Lane) queue.Options {
	return queue.Options{Lane: lane, MaxAttempts: len(plan) + 1, Timeout: 12 * time.Minute, Backoff: Backoff}
}

// plan is the delay after each failed attempt, about a day in all.
var plan = [...]time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
	7 * time.Hour, 9 * time.Hour,
}

// Backoff returns the delay after failure number failed, from 1, with up to a fifth of jitter.
func Backoff(failed int) time.Duration {
	return queue.Jitter(plan[min(max(failed, 1), len(plan))-1], 0.2)
}
