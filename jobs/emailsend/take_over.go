package emailsend

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// whileWritten is how long a run waits for an outcome that is being written.
const whileWritten = time.Second

// takeOver ends a run whose email an earlier run has marked and not settled. It sends nothing. If this process has the
// final reply that the earlier run got, it records the outcome of that; otherwise the fate of the mail is unknown.
func (j Job) takeOver(ctx context.Context, run *queue.Run[Args], o *emails.Outgoing) error {
	final, isBusy := j.Replies.Take(run.Claimed, o.ID, o.Fence)
	switch {
	case isBusy:
		return queue.Snooze(whileWritten)
	case final == nil:
		recordDoubt(run, o, emails.Interrupted)
		return nil
	}

	r := final.Result()
	if d := emails.Diagnose(&r); isRefusalOfSender(&r, &d) {
		return j.refusedSender(run, o, &r, &d)
	}
	switch r.Outcome {
	case transport.Sent:
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return o.Accept(ctx, tx, r.Reply) })
		return nil
	case transport.NotSentPermanent:
		j.failEmail(run, o, emails.Rejected, &r)
		return nil
	case transport.NotSentTemporary:
		return j.planRetry(ctx, run, o, &r, holdOf(&r))
	default:
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			o.Unmarked(tx, r.Reply)
			return nil
		})
		return queue.Snooze(whileWritten)
	}
}
