package mailboxes

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Reasons of a mailbox that is unverified or disabled.
const (
	AuthRefused    = "auth_refused"    // the server refused the sign-in
	ConnectFailed  = "connect_failed"  // there was no connection
	TestRefused    = "test_refused"    // the server did not take the test mail
	TestUnanswered = "test_unanswered" // the server did not answer the test mail
)

// maxRefusals is the number of refused sign-ins in a row at which a mailbox is disabled.
const maxRefusals = 5

// RequestCheck records that a test of a live mailbox was asked for. The caller enqueues the job that makes it. If its
// inbox could not be read, or a server was silent, the server is called again at once.
func (s *Service) RequestCheck(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (Versioned, error) {
	row, err := lockLive(ctx, tx, mailbox, nil)
	if err != nil {
		return Versioned{}, err
	}
	row.Value.Computed++
	tx.Queue(`UPDATE mailbox SET check_requested_at = now(), computed = computed + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), mailbox)
	forgetSilence(tx, &row.Value)
	return versionedOf(&row), nil
}

// Check is the result of a test of a mailbox.
type Check struct {
	MessageID        string // of the test mail
	Failure          string // ConnectFailed, TestRefused, ...; "": the server took the test mail
	Silence          string // what the mailbox shows of a server that was silent; "": it has responded
	Detail, Action   string // what the server said and what to do about it, in words; "": that of Failure
	Refused          bool   // the sign-in was refused
	SentProof        bool   // the test mail was found in the Sent folder
	SPF, DKIM, DMARC string // findings of the domain's records
}

// Checked records the result of a test. A mailbox whose test mail was taken is active, unless it is held or disabled;
// one whose test failed keeps its status, and an unverified one shows the reason.
func (s *Service) Checked(ctx context.Context, tx *postgres.Tx, mailbox id.ID, c *Check) error {
	row, err := table.Lock(ctx, tx, mailbox, true)
	if err != nil {
		return err
	}
	m := &row.Value
	if m.Status == Unverified {
		if m.reason = c.Failure; c.Failure == "" {
			m.Status = Active
			queueDue(tx, mailbox)
		}
	}
	if c.Failure == "" {
		m.authRefusals = 0
	}
	setState(tx, m)
	tx.Queue(`UPDATE mailbox SET check_requested_at = NULL, checked_at = now(), check_id = $3,
		verified_at = CASE WHEN $4 THEN now() ELSE verified_at END, sent_proof = $5, spf = $6,
		dkim = CASE WHEN `+signed+` THEN 'pass' ELSE $7 END, dmarc = $8, domain_checked_at = now()
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), mailbox, c.MessageID, c.Failure == "", c.SentProof, c.SPF, c.DKIM, c.DMARC)
	SetWords(tx, mailbox, c.Detail, c.Action)
	if c.Silence == "" {
		Responded(tx, mailbox, Submission)
	} else if _, _, err := Silent(ctx, tx, mailbox, Submission, c.Silence); err != nil {
		return err
	}

	if c.Refused {
		return s.SignInRefused(ctx, tx, mailbox)
	}

	return nil
}

// SetWords queues what a mailbox shows of a server that refuses it: what the server said, and what to do about it.
func SetWords(tx *postgres.Tx, mailbox id.ID, detail, action string) {
	tx.Queue(`UPDATE mailbox SET check_detail = $3, check_action = $4 WHERE org_id = $1 AND id = $2
		AND (check_detail <> $3 OR check_action <> $4)`, tx.Org(), mailbox, detail, action)
}

// SignInRefused counts a refused sign-in. At the fifth in a row an active or held mailbox is disabled, and
// mailbox.disabled is announced.
func (s *Service) SignInRefused(ctx context.Context, tx *postgres.Tx, mailbox id.ID) error {
	row, err := table.Lock(ctx, tx, mailbox, true)
	if err != nil {
		return err
	}
	m := &row.Value
	m.authRefusals++
	disabled := m.authRefusals >= maxRefusals && (m.Status == Active || m.Status == Held) && m.ArchivedAt == nil
	if disabled {
		m.Status, m.reason, m.HeldUntil = Disabled, AuthRefused, nil
	}
	if setState(tx, m); !disabled {
		return nil
	}

	return events.Announce(ctx, tx, events.MailboxDisabled{Mailbox: m.Shown(time.Now())})
}

// SignInAccepted queues forgetting the sign-ins, and the mails for their sender, that the server of m had refused when
// m was read.
func SignInAccepted(tx *postgres.Tx, m *Sending) {
	if m.refused {
		tx.Queue(`UPDATE mailbox SET auth_refusals = 0, refusals = 0, refusal_reply = '' WHERE org_id = $1 AND id = $2`,
			tx.Org(), m.ID)
	}
}
