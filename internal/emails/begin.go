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

// Outgoing is an email that a run has taken.
type Outgoing struct {
	Row
	Org     id.ID
	Fence   id.ID
	Mailbox *mailboxes.Sending
	// Lost reports that an earlier run marked the email and did not come to record its outcome.
	Lost bool

	keys    suppression.Keys
	content *content
	due     time.Time
	late    time.Duration // after due
}

// Begin takes an email for the run with the fence. It returns nil if there is nothing to send: the email was sent,
// cancelled or resolved meanwhile, or cannot be sent any more, which Begin records.
func (s *Service) Begin(ctx context.Context, db *postgres.DB, org, email, fence id.ID) (*Outgoing, error) {
	var o *Outgoing
	err := db.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
		o, err = s.begin(ctx, tx, email, fence)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("begin email: %w", err)
	}
	return o, nil
}

// beginSQL also makes the commit asynchronous: what a crash of Postgres loses is the fence, without which there is no
// mark, and whose commit is not lost before this one's.
const beginSQL = `SELECT ` + columns + `, due_at, make_interval(hours => late_hours),
	set_config('synchronous_commit', 'off', true), ` + broadcastRuns + `
FROM email e WHERE org_id = $1 AND id = $2 FOR UPDATE`

func (s *Service) begin(ctx context.Context, tx *postgres.Tx, email, fence id.ID) (*Outgoing, error) {
	o := &Outgoing{Org: tx.Org(), Fence: fence}
	queueContent(tx, email, &o.content)
	var (
		setting string
		runs    bool
	)
	err := tx.QueryRow(ctx, beginSQL, []any{tx.Org(), email}, append(o.targets(), &o.due, &o.late,
		&setting, &runs)...)
	switch {
	case postgres.None(err):
		return nil, nil //nolint:nilnil // nothing to send
	case err != nil:
		return nil, fmt.Errorf("read email: %w", err)
	}
	switch o.Status {
	case Transmitting:
		o.Lost = true
		return o, nil
	case Scheduled, Planned:
	default:
		return nil, nil //nolint:nilnil // it is settled
	}
	if !runs {
		return nil, nil //nolint:nilnil // it waits until its broadcast is resumed, which adds a job
	}
	if reason := o.unsendable(time.Now()); reason != "" {
		return nil, o.cancel(ctx, tx, reason)
	}
	mailbox := s.Mailboxes.QueueForSending(tx, o.MailboxID)
	if o.keys, err = s.Suppressions.Keys(ctx, tx, o.To); err != nil {
		return nil, err
	}
	if o.Mailbox, err = mailbox(); err != nil {
		return nil, err
	}
	o.Status = Planned
	tx.Queue(`UPDATE email SET status = 'planned', fence = $3, attempt = attempt + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), email, fence)
	return o, nil
}

// unsendable returns why the email cannot be sent any more, or "".
func (o *Outgoing) unsendable(now time.Time) string {
	switch {
	case o.To == "" || o.content == nil:
		return ContactArchived
	case now.After(o.due.Add(o.late)):
		return Late
	}
	return ""
}

// cancel settles the email as cancelled, and its enrolment with it.
func (o *Outgoing) cancel(ctx context.Context, tx *postgres.Tx, reason string) error {
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
	m := o.content.mail(&o.Email, nil)
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
