package mailboxes

import (
	"cmp"
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Account checks within tx that a mailbox of the kind can sign in with a connected account. Its error is a fault for
// social_account_id.
type Account func(ctx context.Context, tx *postgres.Tx, kind string, account id.ID) error

// Create creates a mailbox from p and returns it with the token of its inbound address, which is never shown again. An
// invalid p is a validation fault.
func (s *Service) Create(ctx context.Context, tx *postgres.Tx, p *Patch, account Account) (Versioned, string, error) {
	now, limit := wire.Now(), defaultCap
	m := stored{Mailbox: Mailbox{ID: id.New(), Status: Unverified, DailyCap: &limit, CreatedAt: now, UpdatedAt: now}}
	m.smtp.tls, m.imap.tls, m.rampStep = TLS, TLS, defaultStep
	m.GapSeconds.Min, m.GapSeconds.Max = 30, 120
	m.Domain.SPF, m.Domain.DKIM, m.Domain.DMARC = unknown, unknown, unknown
	d := draft{Form: form.At(""), s: s, m: &m, passwords: map[string]secret.Text{}, isNew: true}
	d.ReadOnly(p.Sent, m.Mailbox)
	form.Missing(d.Form, "kind", p.Kind)
	form.Missing(d.Form, "from_email", p.FromEmail)
	d.OneOf("kind", p.Kind, &m.Kind, SMTP, Google, Microsoft, Sandbox)
	if d.applyPatch(p); m.Kind == Sandbox {
		m.Status = Active
	}
	err := d.firstFault()
	if err == nil {
		err = s.sealPasswords(tx, &d)
	}
	if err == nil && m.SocialAccountID != nil {
		err = account(ctx, tx, m.Kind, *m.SocialAccountID)
	}
	if err == nil && m.OwnerID != nil {
		err = isMember(ctx, tx, *m.OwnerID)
	}
	if err != nil {
		return Versioned{}, "", err
	}

	token, hash := newToken(tx.Org())
	if err := s.insertRow(ctx, tx, &m, hash); err != nil {
		return Versioned{}, "", err
	}

	openFolder(tx, &m, false)
	if m.RatePerSecond != nil {
		queue.SetKeyRate(tx, m.ID, m.RatePerSecond)
	}

	return versionedOf(&record.Row[stored]{Value: m, Edit: 1}), token, nil
}

// isMember returns a fault for owner_id unless the user is a member of the org of tx.
func isMember(ctx context.Context, tx *postgres.Tx, user id.ID) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM member WHERE org_id = $1 AND user_id = $2 AND removed_at IS NULL`,
		[]any{tx.Org(), user}, &one)
	switch {
	case postgres.None(err):
		return fault.Invalid("owner_id", "not_found", "The organization has no such member.")
	case err != nil:
		return fmt.Errorf("find member: %w", err)
	}
	return nil
}

// sealPasswords seals the new passwords of a draft.
func (s *Service) sealPasswords(tx *postgres.Tx, d *draft) (err error) {
	for column, at := range map[string]*[]byte{smtpPassword: &d.m.smtpSecret, imapPassword: &d.m.imapSecret} {
		if password, ok := d.passwords[column]; ok {
			if *at, err = s.sealPassword(tx.Org(), d.m.ID, column, password); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) insertRow(ctx context.Context, tx *postgres.Tx, m *stored, inbound []byte) error {
	var made id.ID
	err := tx.QueryRow(ctx, `
		INSERT INTO mailbox (org_id, id, `+editable+`, kind, status, inbound_hash, created_at, updated_at)
		VALUES ($1, $2, `+editableArgs+`, $31, $32, $33, $34, $34)
		ON CONFLICT (org_id, from_folded) WHERE archived_at IS NULL DO NOTHING RETURNING id`,
		append(m.editableValues(tx.Org()), m.Kind, m.Status, inbound, m.CreatedAt), &made)
	if postgres.None(err) {
		return cmp.Or(findTaken(ctx, tx, m), error(fault.New(fault.MailboxExists, addressTaken)))
	}
	if err != nil {
		return fmt.Errorf("create mailbox: %w", err)
	}

	return nil
}

// editable has the columns that a patch changes, and editableArgs their arguments, as editableValues returns them.
const (
	editable = `name, from_email, from_folded, from_domain, from_name, reply_to, smtp_host, smtp_port, smtp_tls,
		smtp_username, smtp_password, imap_host, imap_port, imap_tls, imap_username, imap_password, social_account_id,
		daily_cap, gap_min, gap_max, rate_per_second, ramp_start, ramp_step, time_zone, track_opens, track_clicks,
		signature_html, owner_id`
	editableArgs = `$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
		$24,
		$25, $26, $27, $28, $29, $30`
)

func (m *stored) editableValues(org id.ID) []any {
	return []any{
		org, m.ID, m.Name, m.FromEmail, m.folded, m.domain, m.FromName, m.ReplyTo, m.smtp.name, m.smtp.port, m.smtp.tls,
		m.smtpUser, m.smtpSecret, m.imap.name, m.imap.port, m.imap.tls, m.imapUser, m.imapSecret, m.SocialAccountID,
		m.DailyCap, m.GapSeconds.Min, m.GapSeconds.Max, m.RatePerSecond, m.rampStart, m.rampStep, m.zone,
		m.Tracking.Opens, m.Tracking.Clicks, m.SignatureHTML, m.OwnerID,
	}
}

// findTaken returns the fault for an address that another live mailbox has, or nil.
func findTaken(ctx context.Context, tx *postgres.Tx, m *stored) error {
	f := fault.New(fault.MailboxExists, addressTaken)
	var other id.ID
	err := tx.QueryRow(ctx, `SELECT id FROM mailbox WHERE org_id = $1 AND from_folded = $2 AND archived_at IS NULL
		AND id <> $3`, []any{tx.Org(), m.folded, m.ID}, &other)
	switch {
	case postgres.None(err):
		return nil
	case err != nil:
		return fmt.Errorf("find mailbox by address: %w", err)
	}

	f.ExistingID = other.String()
	return f
}
