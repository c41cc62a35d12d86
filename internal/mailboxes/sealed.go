package mailboxes

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Columns with sealed passwords.
const (
	smtpPassword = "smtp_password"
	imapPassword = "imap_password"
)

// Sealed lists the columns with sealed passwords.
func Sealed() []keyring.Column {
	return []keyring.Column{
		{Table: "mailbox", Name: smtpPassword, Key: keyring.OrgAndID(), About: keyring.ByOrgAndID(smtpPassword)},
		{Table: "mailbox", Name: imapPassword, Key: keyring.OrgAndID(), About: keyring.ByOrgAndID(imapPassword)},
	}
}

// sealContext returns the context that the password of a column is bound to.
func sealContext(org, mailbox id.ID, column string) string {
	return keyring.ByOrgAndID(column)([]string{org.String(), mailbox.String()})
}

// sealPassword seals a password; an empty one is nil.
func (s *Service) sealPassword(org, mailbox id.ID, column string, password secret.Text) ([]byte, error) {
	if password == "" {
		return nil, nil
	}
	sealed, err := s.Box.Seal([]byte(password.Reveal()), sealContext(org, mailbox, column))
	if err != nil {
		return nil, fmt.Errorf("seal password: %w", err)
	}
	return sealed, nil
}

// openPassword opens a sealed password; nil is "".
func (s *Service) openPassword(org, mailbox id.ID, column string, sealed []byte) (secret.Text, error) {
	if sealed == nil {
		return "", nil
	}
	plain, err := s.Box.Open(sealed, sealContext(org, mailbox, column))
	if err != nil {
		return "", fmt.Errorf("open password: %w", err)
	}
	return secret.Text(plain), nil
}
