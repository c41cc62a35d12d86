package emails

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// usualLateHours is how many hours after it was due an email may still be sent, unless its sequence says otherwise:
// what a restored backup or a long outage brings back must not go out days later.
const usualLateHours = 24

// Outgoing is an email that a run sends.
type Outgoing struct {
	Row
	Org   id.ID
	Fence id.ID
	// Job, if it is set, must still be held by the run when the email is marked.
	Job     *id.ID
	Mailbox *mailboxes.Sending
	// Lost reports that an earlier run marked the email and did not come to record its outcome. Fence is that run's.
	Lost bool

	keys    suppression.Keys
	hasKeys bool
	content *content
	due     time.Time
	late    time.Duration // after due
	marker  *id.ID        // the fence of the run that has marked the email
}

// Begin reads an email for the run with the fence, which becomes the email's at its mark. It returns nil if there is
// nothing to send: the email was sent, cancelled or resolved meanwhile, or cannot be sent any more, which Begin
// records.
func (s *Service) Begin(ctx context.Context, db *postgres.DB, org, email, fence id.ID) (*Outgoing, error) {
	o, err := s.beginSending(ctx, db, org, email, fence)
	if err != nil {
		return nil, fmt.Errorf("begin email: %w", err)
	}
	return o, nil
}

func (s *Service) beginSending(ctx context.Context, db *postgres.DB, org, email, fence id.ID) (*Outgoing, error) {
	var (
		o    = &Outgoing{Org: org, Fence: fence}
		runs bool
	)
	err := db.ReadTx(ctx, org, func(tx *postgres.Tx) error { return s.readOutgoing(ctx, tx, email, o, &runs) })
	switch {
	case postgres.None(err):
		return nil, nil //nolint:nilnil // nothing to send
	case err != nil:
		return nil, fmt.Errorf("read email: %w", err)
	}

	switch o.Status {
	case Transmitting:
		o.Lost = true
		if o.marker != nil {
			o.Fence = *o.marker
		}
		return o, nil
	case Scheduled, Planned:
	default:
		return nil, nil //nolint:nilnil // it is settled
	}

	if !runs {
		return nil, nil //nolint:nilnil // it waits until its broadcast is resumed, which adds a job
	}

	reason := o.unsendableReason(time.Now())
	if reason == "" && o.Mailbox == nil {
		moved, err := s.followMailbox(ctx, db, org, email)
		if err != nil {
			return nil, err
		}
		if !moved {
			return nil, mailboxes.Absent()
		}
		return s.beginSending(ctx, db, org, email, fence)
	}

	if reason == "" && o.Status == Planned && o.hasKeys {
		return o, nil
	}

	return o.prepareStatus(ctx, db, s, reason)
}

// prepareStatus writes what few emails need: it cancels the email for a reason, or plans one that was scheduled, and
// creates the key of an org without one.
func (o *Outgoing) prepareStatus(ctx context.Context, db *postgres.DB, s *Service, reason string) (*Outgoing, error) {
	err := db.Tx(ctx, o.Org, func(tx *postgres.Tx) (err error) {
		if reason != "" {
			return o.cancelEmail(ctx, tx, reason)
		}
		tx.Queue(`UPDATE email SET status = 'planned' WHERE org_id = $1 AND id = $2 AND status = 'scheduled'`, tx.Org(),
			o.ID)
		o.keys, err = s.Suppressions.Keys(ctx, tx, o.To)
		return err
	})
	if err != nil || reason != "" {
		return nil, err
	}

	o.Status = Planned

	return o, nil
}

const beginSQL = `SELECT ` + columns + `, due_at, make_interval(hours => late_hours), fence, ` + broadcastRuns + `
FROM email e WHERE org_id = $1 AND id = $2`

// readOutgoing reads all that sending an email needs, in one round trip. It does not lock the email: Mark checks again
// what may change until then.
func (s *Service) readOutgoing(ctx context.Context, tx *postgres.Tx, email id.ID, o *Outgoing, runs *bool) error {
	queueContent(tx, email, &o.content)
	mailbox := s.Mailboxes.QueueForEmail(tx, email)
	keys := s.Suppressions.QueueKeys(tx)
	err := tx.QueryRow(ctx, beginSQL, []any{tx.Org(), email}, append(o.targets(), &o.due, &o.late, &o.marker, runs)...)
	if err != nil {
		return err
	}
	if o.Mailbox, err = mailbox(); err != nil {
		return err
	}

	o.keys, o.hasKeys, err = keys(o.To)
	return err
}

// unsendableReason returns why the email cannot be sent any more, or "".
func (o *Outgoing) unsendableReason(now time.Time) string {
	switch {
	case o.To == "" || o.content == nil:
		return ContactArchived
	case o.isLate(now):
		return Late
	}
	return ""
}

// isLate reports whether the email is due for too long. The mail of a broadcast never is, and no email is while its
// mailbox may not send: it waits.
func (o *Outgoing) isLate(now time.Time) bool {
	due := o.due
	if m := o.Mailbox; m != nil {
		if !m.MaySend(now) {
			return false
		}
		if ended := m.WaitedUntil(); ended.After(due) {
			due = ended
		}
	}
	return o.BroadcastID == nil && now.After(due.Add(o.late))
}

// cancelEmail settles the email as cancelled, and its enrolment with it.
func (o *Outgoing) cancelEmail(ctx context.Context, tx *postgres.Tx, reason string) error {
	states.LockOf(tx, o.ID)
	n, err := tx.Exec(ctx, `
		UPDATE email SET status = 'cancelled', status_reason = $3, computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND status IN ('scheduled', 'planned')`, tx.Org(), o.ID, reason)
	if err != nil {
		return fmt.Errorf("cancel email: %w", err)
	}
	if n == 0 {
		return nil
	}
	return o.notSent(ctx, tx, states.Unsent{Reason: reason})
}

// MIME returns the bytes of the mail, which are the same for every attempt. db is asked for the attachments.
func (o *Outgoing) MIME(ctx context.Context, db *postgres.DB) ([]byte, error) {
	m := o.content.composedMail(&o.Email, nil)
	if o.content.attachments > 0 {
		err := db.ReadTx(ctx, o.Org, func(tx *postgres.Tx) (err error) {
			m.Attachments, err = readAttachments(ctx, tx, o.ID)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return m.MIME()
}

// From returns the address of the envelope's sender.
func (o *Outgoing) From() string { return cmp.Or(o.content.bounceTo, o.content.fromEmail) }
