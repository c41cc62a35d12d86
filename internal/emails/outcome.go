package emails

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// The outcomes are written in the transaction that ends the run of the email's job, so its fence protects them. They
// queue their statements.

// Accept records that the server accepted the mail.
func (o *Outgoing) Accept(ctx context.Context, tx *postgres.Tx, reply transport.Reply) error {
	if o.EnrolmentID != nil {
		states.LockOf(tx, o.ID)
	}
	tx.Queue(`UPDATE email SET status = 'sent', sent_at = clock_timestamp(), smtp_reply = $4, server_id = $5,
			computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND fence = $3 AND status = 'transmitting'`, tx.Org(), o.ID, o.Fence,
		reply.String(), serverID(reply.Text))
	if err := announceOutcome(ctx, tx, events.EmailSent{Email: o.asEvent(Sent, "", reply)}); err != nil {
		return err
	}
	return o.goOn(ctx, tx, time.Now(), Sent)
}

// Accepted is an email without an enrolment that the server accepted. Its outcome is written together with those of
// other runs.
type Accepted struct {
	*Outgoing
	Reply transport.Reply
}

// Write implements queue.Writer for items of type Accepted.
func (s *Service) Write(tx *postgres.Tx, items []any) error {
	ctx := context.Background() // its origin is the platform
	for _, item := range items {
		a, ok := item.(Accepted)
		if !ok || a.EnrolmentID != nil {
			return fmt.Errorf("write accepted emails: unexpected item %T", item)
		}
		queue.CloseCircuit(tx, a.MailboxID)
		mailboxes.SignInAccepted(tx, a.Mailbox)
		mailboxes.ServerResponded(tx, a.Mailbox)
		if err := a.Accept(ctx, tx, a.Reply); err != nil {
			return err
		}
	}

	return nil
}

// Unmarked records that the mail was certainly not sent: the email is planned again. reply may be zero.
func (o *Outgoing) Unmarked(tx *postgres.Tx, reply transport.Reply) {
	tx.Queue(`UPDATE email SET status = 'planned', marked_at = NULL, smtp_reply = coalesce(nullif($4, ''), smtp_reply),
			computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND (status = 'planned' OR status = 'transmitting' AND fence = $3)`, tx.Org(),
		o.ID, o.Fence, reply.String())
}

// Fail records that the mail was certainly not sent and will not be. A refusal of the recipient's address suppresses
// the address, and counts for the mailbox's health.
func (s *Service) Fail(ctx context.Context, tx *postgres.Tx, o *Outgoing, reason string, r *transport.Result) error {
	hard := isHard(r)
	var bounced *string
	if hard {
		bounced = new("hard")
		if err := mailboxes.Judge(ctx, tx, o.MailboxID, func() error {
			o.queueFailure(tx, reason, r.Reply, bounced)
			return nil
		}); err != nil {
			return err
		}
	} else {
		o.queueFailure(tx, reason, r.Reply, nil)
	}
	e := o.asEvent(Failed, reason, r.Reply)
	e.BounceKind = bounced
	if err := announceOutcome(ctx, tx, events.EmailFailed{Email: e}); err != nil {
		return err
	}
	if err := o.notSent(ctx, tx, states.Unsent{Failed: true, Reason: reason, Hard: hard}); err != nil || !hard {
		return err
	}
	_, _, err := s.Suppressions.Add(ctx, tx, suppression.New{
		Email: o.To, Purpose: suppression.All, Reason: suppression.HardBounce, Source: "bounce",
		Note: r.Reply.String(),
	})

	return err
}

// queueFailure queues the status of an email that failed. bounced is "hard", or nil.
func (o *Outgoing) queueFailure(tx *postgres.Tx, reason string, reply transport.Reply, bounced *string) {
	if o.EnrolmentID != nil {
		states.LockOf(tx, o.ID)
	}
	tx.Queue(`UPDATE email SET status = 'failed', status_reason = $4, smtp_reply = coalesce(nullif($5, ''), smtp_reply),
			bounced = $6, marked_at = NULL, computed = computed + 1,
			refused_at = CASE WHEN $6 = 'hard' THEN clock_timestamp() END
		WHERE org_id = $1 AND id = $2 AND (status = 'planned' OR status = 'transmitting' AND fence = $3)`, tx.Org(),
		o.ID, o.Fence, reason, reply.String(), bounced)
}

// Doubt records that it is not known whether the mail was sent. The caller enqueues its reconciliation.
func (o *Outgoing) Doubt(ctx context.Context, tx *postgres.Tx, reason string) error {
	n, err := tx.Exec(ctx, `UPDATE email SET status = 'unknown', status_reason = $3, computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND status = 'transmitting'`, tx.Org(), o.ID, reason)
	if err != nil || n == 0 {
		return err
	}
	return announceOutcome(ctx, tx, events.EmailUnknown{Email: o.asEvent(Unknown, reason, transport.Reply{})})
}

// Stop settles the emails of jobs that will not run again: what was marked is unknown, what was not is failed.
func Stop(ctx context.Context, tx *postgres.Tx, ids []id.ID) error {
	states.LockOf(tx, ids...)
	rows, err := selectRows(ctx, tx, `id = ANY ($2::uuid[]) AND status IN ('scheduled', 'planned', 'transmitting')
		ORDER BY id FOR UPDATE`, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		o := Outgoing{Row: rows[i], Org: tx.Org()}
		if o.Status == Transmitting {
			if err = o.Doubt(ctx, tx, Interrupted); err == nil {
				err = o.goOn(ctx, tx, time.Now(), Unknown)
			}
		} else {
			tx.Queue(`UPDATE email SET status = 'failed', status_reason = $3, computed = computed + 1
				WHERE org_id = $1 AND id = $2`, tx.Org(), o.ID, Stopped)
			err = announceOutcome(ctx, tx, events.EmailFailed{Email: o.asEvent(Failed, Stopped, transport.Reply{})})
			if err == nil {
				err = o.notSent(ctx, tx, states.Unsent{Failed: true, Reason: Stopped})
			}
		}
		if err != nil {
			return fmt.Errorf("stop email: %w", err)
		}
	}

	return nil
}

// Revive queues that the emails of jobs which an operator runs again may be sent, if they failed without a definite
// answer. It makes them due now.
func Revive(tx *postgres.Tx, ids []id.ID) {
	states.Revived(tx, ids)
	tx.Queue(`UPDATE email SET status = 'planned', status_reason = '', due_at = greatest(due_at, clock_timestamp()),
			computed = computed + 1
		WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND marked_at IS NULL AND (status = 'planned'
			OR status = 'failed' AND status_reason = 'job_stopped')`, tx.Org(), ids)
}

// asEvent returns the email as events show it, after a change of its status.
func (o *Outgoing) asEvent(status, reason string, reply transport.Reply) events.Email {
	e := o.Event()
	e.Status = status
	if reason != "" {
		e.StatusReason = &reason
	}
	if code := reply.Enhanced; code != "" {
		e.Code = &code
	} else if reply.Code != 0 {
		e.Code = new(strconv.Itoa(reply.Code))
	}
	return e
}

// Event returns the email as events show it.
func (e *Email) Event() events.Email {
	out := events.Email{
		ID: e.ID, ContactID: e.ContactID, MailboxID: e.MailboxID, Subject: e.Subject, MessageID: &e.MessageID,
		ThreadID: &e.ThreadID, EnrolmentID: e.EnrolmentID, Step: e.Step, Variant: e.Variant, BroadcastID: e.BroadcastID,
		Purpose: &e.Purpose, Status: e.Status, StatusReason: e.StatusReason, Evidence: []events.EmailEvidence{},
		Why: []string{},
	}
	for _, v := range e.Evidence {
		out.Evidence = append(out.Evidence, events.EmailEvidence(v))
	}
	return out
}

// AddFacts queues that opens and clicks are added to those of an email. Other facts are ignored.
func AddFacts(tx *postgres.Tx, email id.ID, f *Facts) {
	tx.Queue(`UPDATE email SET opens = opens + $3, machine_opens = machine_opens + $4, clicks = clicks + $5,
			machine_clicks = machine_clicks + $6, computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), email, f.Opens, f.MachineOpens, f.Clicks, f.MachineClicks)
}
