package mailboxes

import (
	"context"
	"fmt"
	"reflect"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Update applies p to a live mailbox and reports whether anything changed. A mailbox with another server, user,
// password, account or address is unverified until its next test; a sandbox mailbox stays active.
func (s *Service) Update(ctx context.Context, tx *postgres.Tx, mailbox id.ID, match record.Match, p *Patch,
	account Account,
) (v Versioned, changed bool, err error) {
	row, err := lockLive(ctx, tx, mailbox, match)
	if err != nil {
		return v, false, err
	}
	was, m := row.Value, &row.Value
	d := draft{Form: form.At(""), s: s, m: m, passwords: map[string]secret.Text{}}
	if p.Kind.Set && p.Kind.Value != m.Kind {
		d.Wrong("kind", "read_only", "The kind of a mailbox cannot be changed.")
	}
	d.ReadOnly(p.Sent, versionedOf(&row).Mailbox)
	d.applyPatch(p)
	if err = d.firstFault(); err == nil {
		err = s.sealPasswords(tx, &d)
	}
	if err == nil && m.SocialAccountID != nil && !isSameID(m.SocialAccountID, was.SocialAccountID) {
		err = account(ctx, tx, m.Kind, *m.SocialAccountID)
	}
	if err == nil && m.OwnerID != nil && !isSameID(m.OwnerID, was.OwnerID) {
		err = isMember(ctx, tx, *m.OwnerID)
	}
	if err != nil {
		return v, false, err
	}

	if reflect.DeepEqual(m.editableValues(tx.Org()), was.editableValues(tx.Org())) {
		return versionedOf(&row), false, nil
	}

	if m.connection() != was.connection() || len(d.passwords) > 0 || !isSameID(m.SocialAccountID, was.SocialAccountID) {
		m.resetVerification()
		forgetSilence(tx, m)
	}
	if m.domain != was.domain {
		m.Domain.SPF, m.Domain.DKIM, m.Domain.DMARC, m.Domain.CheckedAt = unknown, unknown, unknown, nil
	}
	m.UpdatedAt = wire.Now()
	row.Edit++
	if err := s.updateRow(ctx, tx, m); err != nil {
		return v, false, err
	}

	read, password := m.reading() != was.reading(), d.passwords[imapPassword] != ""
	if read || password {
		openFolder(tx, m, read)
	}
	if !sameNumber(m.RatePerSecond, was.RatePerSecond) {
		queue.SetKeyRate(tx, m.ID, m.RatePerSecond)
	}
	if !sameNumber(m.rampStart, was.rampStart) { // the ramp begins anew
		tx.Queue(`UPDATE mailbox SET ramp_allowed = NULL, ramp_on = NULL, ramp_halved_on = NULL
			WHERE org_id = $1 AND id = $2`, tx.Org(), m.ID)
	}

	return versionedOf(&row), true, nil
}

// lockLive returns a live mailbox with its row locked until the end of tx.
func lockLive(ctx context.Context, tx *postgres.Tx, mailbox id.ID, match record.Match) (record.Row[stored], error) {
	row, err := table.Lock(ctx, tx, mailbox, false)
	if err == nil && match != nil {
		err = match(int64(row.Edit))
	}
	return row, err
}

// connection has what a test of the mailbox depends on.
type connection struct {
	smtp, imap         server
	smtpUser, imapUser string
	from               string
}

func (m *stored) connection() connection {
	return connection{m.smtp, m.imap, m.smtpUser, m.imapUser, m.folded}
}

func sameNumber(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

func isSameID(a, b *id.ID) bool { return a == b || a != nil && b != nil && *a == *b }

// reading has what identifies the account that is read.
type reading struct {
	imap       server
	user, from string
	account    id.ID
}

func (m *stored) reading() reading {
	r := reading{imap: m.imap, user: m.imapUser}
	if m.SocialAccountID != nil {
		r.account, r.from = *m.SocialAccountID, m.folded
	}
	return r
}

// resetVerification makes the results of the last test void.
func (m *stored) resetVerification() {
	m.SentProof, m.verified, m.authRefusals, m.requested, m.checkID = false, nil, 0, nil, ""
	if m.Kind == Sandbox {
		return
	}
	m.Status, m.reason, m.HeldUntil = Unverified, "", nil
}

func (s *Service) updateRow(ctx context.Context, tx *postgres.Tx, m *stored) error {
	if err := findTaken(ctx, tx, m); err != nil {
		return err
	}
	var one int
	err := tx.QueryRow(ctx, `UPDATE mailbox SET (`+editable+`) = ROW(`+editableArgs+`), status = $31,
		status_reason = $32, held_until = $33, verified_at = $34, sent_proof = $35, auth_refusals = $36,
		check_requested_at = $37,
		check_id = $38, spf = $39, dkim = $40, dmarc = $41, domain_checked_at = $42, updated_at = $43, edit = edit + 1
		WHERE org_id = $1 AND id = $2 RETURNING 1`,
		append(m.editableValues(tx.Org()), m.Status, m.reason, m.HeldUntil, m.verified, m.SentProof, m.authRefusals,
			m.requested, m.checkID, m.Domain.SPF, m.Domain.DKIM, m.Domain.DMARC, m.Domain.CheckedAt, m.UpdatedAt), &one)
	if postgres.Violates(err, "mailbox_from") {
		return fault.New(fault.MailboxExists, addressTaken).Because(err)
	}
	if err != nil {
		return fmt.Errorf("update mailbox: %w", err)
	}

	return nil
}

// Archive hides a mailbox, which then sends nothing, and reports whether it was live. The caller holds LockRemoval, and
// refuses the removal of a mailbox that has something to send, or gives it to another one: see package removal.
func (s *Service) Archive(ctx context.Context, tx *postgres.Tx, mailbox id.ID, match record.Match) (bool, error) {
	ch, err := table.Archive(ctx, tx, mailbox, match)
	return ch.Changed(), err
}

// Restore undoes Archive, and reports whether the mailbox was archived. The error is a mailbox_exists fault if another
// mailbox has the address meanwhile.
func (s *Service) Restore(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (v Versioned, changed bool, err error) {
	row, err := table.Lock(ctx, tx, mailbox, true)
	if err != nil {
		return v, false, err
	}
	if row.Value.ArchivedAt != nil {
		if err := findTaken(ctx, tx, &row.Value); err != nil {
			return v, false, err
		}
	}
	ch, _, err := table.Restore(ctx, tx, mailbox)
	if err != nil {
		return v, false, err
	}
	if err := tx.Flush(ctx); err != nil {
		if postgres.Violates(err, "mailbox_from") {
			return v, false, fault.New(fault.MailboxExists, addressTaken).Because(err)
		}
		return v, false, err
	}

	openFolder(tx, &ch.Row.Value, false)
	tx.Queue(`UPDATE mailbox SET reassigned_to = NULL WHERE org_id = $1 AND id = $2 AND reassigned_to IS NOT NULL`,
		tx.Org(), mailbox)

	return versionedOf(&ch.Row), ch.Changed(), nil
}

const addressTaken = "Another mailbox has this address."
