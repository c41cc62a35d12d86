package emailsend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
	"github.com/funnelwork/funnelwork/internal/outreach/submission"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/emailreconcile"
)

// Times that the circuit of a mailbox stays open.
const (
	holdFor  = time.Minute     // after the server turned the mailbox away
	authHold = 5 * time.Minute // after it refused the sign-in, so that the account is not locked
	recheck  = time.Minute     // of a mailbox that waits for a person
)

// Job has the dependencies of the work.
type Job struct {
	DB     *postgres.DB // App role
	Emails *emails.Service
	Dialer *transport.Dialer
	// Sandbox connects to the server that takes the mails of sandbox mailboxes.
	Sandbox func(ctx context.Context, org id.ID) (net.Conn, error)
	// Token returns the tokens of connected accounts. nil: no such mailbox can send.
	Token mailboxes.TokenSource
	// Idle keeps the connections of mailboxes between mails. nil: each mail has a connection of its own.
	Idle *submission.Idle
	// Replies keeps the final replies of servers until they are written. nil: a reply that Postgres cannot take while
	// the run holds its job is lost, and the email is unknown.
	Replies *replyjournal.Journal
	// Sign adds a DKIM signature to a mail from the domain, if the org has a key of it. nil: none is signed.
	Sign func(ctx context.Context, org id.ID, m *mailboxes.Sending, mime []byte) ([]byte, error)
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes one attempt to send the email. It returns nil when the email is settled.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	o, err := j.Emails.Begin(ctx, j.DB, run.Org, run.Args.Email, run.Owner())
	if fault.Is(err, fault.NotFound) { // the mailbox was deleted: the email waits until it is restored, or too late
		return queue.Snooze(recheck)
	}
	if err != nil || o == nil {
		return err
	}

	o.Job = &run.ID
	if o.Lost {
		return j.takeOver(ctx, run, o)
	}
	if m := o.Mailbox; !m.MaySend(time.Now()) {
		r := &emails.RefusedError{Reason: m.Status, WholeMailbox: true}
		if m.HeldUntil != nil && m.Status == mailboxes.Held {
			r.At, r.Wait = *m.HeldUntil, time.Until(*m.HeldUntil)
		}
		return waitForMailbox(run, o, r)
	}
	if err := beginServerCall(run, o.Mailbox); err != nil {
		return err
	}

	mime, err := o.MIME(ctx, j.DB)
	if err != nil {
		return err
	}

	signed := mime
	if j.Sign != nil {
		if signed, err = j.Sign(ctx, run.Org, o.Mailbox, mime); err != nil {
			return err
		}
	}
	c := submission.Connector{Dialer: j.Dialer, Sandbox: j.Sandbox, Token: j.Token, Idle: j.Idle}
	sending, span := startSpan(ctx, o)
	dialogue, mark, end := untilReply(sending, func(ctx context.Context) error {
		return j.Emails.Mark(ctx, j.DB, o, mime, plans.TakeEmailSQL)
	})
	r := c.Send(dialogue, o.Org, o.Mailbox, transport.Envelope{From: o.From(), To: o.To}, signed, mark)
	end()
	endSpan(span, &r)
	if final, ok := emails.FinalReplyOf(o, &r); ok {
		j.Replies.Keep(ctx, run.Claimed, final)
	}

	return j.recordResult(ctx, run, o, &r)
}

// recordResult records the result of the dialogue and returns the result of the job.
func (j Job) recordResult(ctx context.Context, run *queue.Run[Args], o *emails.Outgoing, r *transport.Result) error {
	recordResponse(run, o, r)
	if d := emails.Diagnose(r); isRefusalOfSender(r, &d) {
		return j.refusedSender(run, o, r, &d)
	} else if isRate(r, &d) && r.Outcome == transport.NotSentPermanent {
		return j.planRetry(ctx, run, o, r, rateHold(&d))
	}
	switch r.Outcome {
	case transport.Sent:
		if o.EnrolmentID == nil {
			run.EffectBatch(j.Emails, emails.Accepted{Outgoing: o, Reply: r.Reply})
			return nil
		}
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
			queue.CloseCircuit(tx, o.MailboxID)
			mailboxes.SignInAccepted(tx, o.Mailbox)
			mailboxes.ServerResponded(tx, o.Mailbox)
			return o.Accept(ctx, tx, r.Reply)
		})
		return nil
	case transport.Unknown:
		recordDoubt(run, o, emails.NoReply)
		return nil
	case transport.MarkRefused:
		return j.endRefused(ctx, run, o, r.Err)
	case transport.NotSentPermanent:
		if r.Stage == transport.Connect && r.Reply.Code != 0 { // the server takes nothing from us, for now
			return j.planRetry(ctx, run, o, r, holdFor)
		}
		if d := emails.Diagnose(r); r.Reply.Code != 0 && d.About == diagnosis.Network && d.Words {
			return j.planRetry(ctx, run, o, r, 0) // a fault of the server, by whatever code
		}
		reason := emails.Rejected
		if r.Reply.Code == 0 {
			reason = emails.BadAddress
		}
		j.failEmail(run, o, reason, r)
		return nil
	default:
		return j.planRetry(ctx, run, o, r, holdOf(r))
	}
}

// holdOf returns how long the circuit of the mailbox opens after a refusal for now; 0: it does not.
func holdOf(r *transport.Result) time.Duration {
	switch {
	case r.Stage == transport.Auth:
		return authHold
	case r.Hold:
		return holdFor
	}
	if d := emails.Diagnose(r); isRate(r, &d) {
		return rateHold(&d)
	}
	return 0
}

// planRetry plans another attempt. With hold, the circuit of the mailbox opens and no attempt is spent.
func (j Job) planRetry(ctx context.Context, run *queue.Run[Args], o *emails.Outgoing, r *transport.Result,
	hold time.Duration,
) error {
	if ctx.Err() != nil {
		return fmt.Errorf("send email: %w", ctx.Err()) // cancelled by us: does not count as an attempt
	}
	if hold == 0 && run.Last() {
		j.failEmail(run, o, emails.Exhausted, r)
		return nil
	}

	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		o.Unmarked(tx, r.Reply)
		if hold > 0 {
			queue.OpenCircuit(tx, o.MailboxID, hold)
			o.WaitForMailbox(tx, hold)
		}
		if detail := SilenceOf(o.Mailbox, r); detail != "" {
			return recordSilence(ctx, tx, o, detail)
		}
		if errors.Is(r.Err, mailboxes.ErrLoginNeeded) {
			return mailboxes.HoldForLogin(ctx, tx, o.MailboxID, hold)
		}
		if r.Stage == transport.Auth && r.Reply.Code >= 500 {
			words := AdviceOn(o.Mailbox, r)
			mailboxes.SetWords(tx, o.MailboxID, words.Detail, words.Action)
			return j.Emails.Mailboxes.SignInRefused(ctx, tx, o.MailboxID)
		}
		return nil
	})
	if hold > 0 {
		return queue.Snooze(hold)
	}

	return fmt.Errorf("the mail was not taken at %s: %s %w", r.Stage, r.Reply, resultError(r))
}

var errReply = errors.New("(reply of the server)")

func resultError(r *transport.Result) error {
	if r.Err != nil {
		return r.Err
	}
	return errReply
}

func (j Job) failEmail(run *queue.Run[Args], o *emails.Outgoing, reason string, r *transport.Result) {
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return j.Emails.Fail(ctx, tx, o, reason, r) })
}

// recordDoubt records that the fate of the mail is unknown, and enqueues the search for evidence.
func recordDoubt(run *queue.Run[Args], o *emails.Outgoing, reason string) {
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		if err := o.Doubt(ctx, tx, reason); err != nil {
			return err
		}
		return emailreconcile.Kind.Add(ctx, tx, emailreconcile.Args{Email: o.ID})
	})
}

// endRefused ends a run whose mark was not given. The final dot was not written, so nothing was sent.
func (j Job) endRefused(ctx context.Context, run *queue.Run[Args], o *emails.Outgoing, err error) error {
	r, ok := errors.AsType[*emails.RefusedError](err)
	switch {
	case ok && r.Settled:
		return nil
	case ok:
		return waitForMailbox(run, o, r)
	}
	// The mark may have been committed although its answer was lost. This run knows that no dot followed.
	back := func(tx *postgres.Tx) { o.Unmarked(tx, transport.Reply{}) }
	now, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if j.DB.Tx(now, run.Org, func(tx *postgres.Tx) error {
		back(tx)
		return nil
	}) != nil {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			back(tx)
			return nil
		})
	}

	return err
}

// waitForMailbox puts the email off until its mailbox may send it. No attempt is spent.
func waitForMailbox(run *queue.Run[Args], o *emails.Outgoing, r *emails.RefusedError) error {
	d := recheck
	if !r.At.IsZero() {
		d = max(r.Wait, time.Second)
	}
	if r.WholeMailbox {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			queue.OpenCircuit(tx, o.MailboxID, d)
			if !r.At.IsZero() {
				o.WaitForMailbox(tx, d)
			}
			return nil
		})
	}
	return queue.Snooze(d)
}

// Hook keeps emails consistent with jobs that end or are run again without a run.
func Hook() queue.Hook { return Kind.Hook(Stopped, Revived) }

// Stopped settles the emails of jobs that will not run again.
func Stopped(ctx context.Context, tx *postgres.Tx, all []Args) error {
	return emails.Stop(ctx, tx, emailIDs(all))
}

// Revived makes the emails of jobs that an operator runs again due.
func Revived(_ context.Context, tx *postgres.Tx, all []Args) error {
	emails.Revive(tx, emailIDs(all))
	return nil
}

func emailIDs(all []Args) []id.ID {
	out := make([]id.ID, len(all))
	for i, a := range all {
		out[i] = a.Email
	}
	return out
}
