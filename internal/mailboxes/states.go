package mailboxes

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ByPerson is the status_reason of a hold that a person has made.
const ByPerson = "held_by_user"

// Hold holds an active or held mailbox until a time; nil: until it is resumed. Its mails wait. The error is a
// mailbox_not_active fault in another state.
func (s *Service) Hold(ctx context.Context, tx *postgres.Tx, mailbox id.ID, until *wire.Time) (Versioned, error) {
	row, err := lockLive(ctx, tx, mailbox, nil)
	if err != nil {
		return Versioned{}, err
	}
	m := &row.Value
	if m.Status != Active && m.Status != Held {
		return Versioned{}, notActive(m.Status)
	}

	m.Status, m.reason, m.HeldUntil = Held, ByPerson, until
	setState(tx, m)
	return versionedOf(&row), nil
}

// Resume ends the hold of a mailbox, or makes one that was disabled active again if it was tested before; otherwise it
// becomes unverified. The mails that it was disabled for do not count any more. An active mailbox is returned
// unchanged. The error is a mailbox_not_active fault for an unverified one, which needs a test.
func (s *Service) Resume(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (Versioned, error) {
	row, err := lockLive(ctx, tx, mailbox, nil)
	if err != nil {
		return Versioned{}, err
	}
	m := &row.Value
	switch {
	case m.Status == Active:
		return versionedOf(&row), nil
	case m.Status == Unverified:
		return Versioned{}, notActive(m.Status)
	case m.Status == Disabled && m.verified == nil && m.Kind != Sandbox:
		forgetHealth(tx, m)
		m.Status = Unverified
	case m.Status == Disabled:
		forgetHealth(tx, m)
		m.Status = Active
	default:
		m.Status = Active
	}
	m.reason, m.HeldUntil, m.authRefusals, m.refusals, m.refusalReply = "", nil, 0, 0, ""
	setState(tx, m)
	forgetSilence(tx, m)
	queueDue(tx, m.ID)

	return versionedOf(&row), nil
}

// forgetHealth queues that the mails up to now do not count for the health of a locked mailbox.
func forgetHealth(tx *postgres.Tx, m *stored) {
	m.sent, m.bounced, m.complained = 0, 0, 0
	tx.Queue(`UPDATE mailbox SET health_since = now(), health_sent = 0, health_bounced = 0, health_complained = 0
		WHERE org_id = $1 AND id = $2`, tx.Org(), m.ID)
}

func notActive(status string) *fault.Fault {
	detail := "The mailbox is disabled. Resume it first."
	if status == Unverified {
		detail = "The mailbox is unverified. Test it first."
	}
	return fault.New(fault.MailboxNotActive, detail)
}

// setState queues writing the state of a locked mailbox.
func setState(tx *postgres.Tx, m *stored) {
	m.Computed++
	tx.Queue(`UPDATE mailbox SET status = $3, status_reason = $4, held_until = $5, auth_refusals = $6,
		refusals = $7, refusal_reply = $8, computed = computed + 1 WHERE org_id = $1 AND id = $2`, tx.Org(), m.ID,
		m.Status, m.reason, m.HeldUntil, m.authRefusals, m.refusals, m.refusalReply)
}

// queueDue queues that the mails of a mailbox which sends again are due now: the time that they have waited for it does
// not make them late.
func queueDue(tx *postgres.Tx, mailbox id.ID) {
	tx.Queue(`UPDATE email SET due_at = clock_timestamp() WHERE org_id = $1 AND mailbox_id = $2 AND status = 'planned'
		AND due_at < clock_timestamp()`, tx.Org(), mailbox)
}
