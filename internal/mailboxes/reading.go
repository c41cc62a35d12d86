package mailboxes

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Reading is what is needed to read a mailbox by IMAP.
type Reading struct {
	ID       id.ID
	Kind     string
	Host     string // the kind's own server for google and microsoft; "": the mailbox cannot be read
	Port     int
	TLS      string // tls, starttls or none
	Username string
	Password secret.Text
	// SocialAccountID is the account whose login google and microsoft use, in place of a password.
	SocialAccountID *id.ID
	SentProof       bool // what is absent from its Sent folder was not sent
}

// ForReading returns a live mailbox of the org of tx with its password. The error is a not_found fault if there is
// none.
func (s *Service) ForReading(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (*Reading, error) {
	m := &Reading{ID: mailbox}
	var (
		sealed []byte
		from   string
	)
	err := tx.QueryRow(ctx, `
		SELECT kind, imap_host, imap_port, imap_tls, imap_username, imap_password, social_account_id, from_email,
			sent_proof
		FROM mailbox WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`, []any{tx.Org(), mailbox},
		&m.Kind, &m.Host, &m.Port, &m.TLS, &m.Username, &sealed, &m.SocialAccountID, &from, &m.SentProof)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, absent)
	}
	if err != nil {
		return nil, fmt.Errorf("read mailbox: %w", err)
	}

	if m.Password, err = s.openPassword(tx.Org(), mailbox, imapPassword, sealed); err != nil {
		return nil, err
	}

	if own, ok := s.ownServersOf(m.Kind); ok {
		m.Host, m.Port, m.TLS, m.Username = own.IMAP.Host, own.IMAP.Port, own.IMAP.TLS, from
	}

	return m, nil
}
