package inbound

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Ways by which a mail arrives.
const (
	HTTP    = "http"
	SMTP    = "smtp"
	IMAP    = "imap"
	Sandbox = "sandbox"
)

// Service keeps incoming mails. It is safe for concurrent use.
type Service struct {
	DB           *postgres.DB   // App role; Intake alone needs it
	Box          *secret.Sealer // seals mails
	Suppressions *suppression.Service
	// Enqueue adds the job that processes a message; Intake alone needs it.
	Enqueue func(ctx context.Context, tx *postgres.Tx, message id.ID) error
	// Ask adds the job that asks for a second opinion on a message of which no rule knows what it is; nil: none.
	Ask func(ctx context.Context, tx *postgres.Tx, message id.ID) error
	// Rescore adds the job that scores a contact whose replies have changed.
	Rescore func(ctx context.Context, tx *postgres.Tx, contact id.ID) error
}

const sealedAs = "message_raw"

// Sealed lists the columns with sealed mails and keys of providers.
func Sealed() []keyring.Column {
	return []keyring.Column{
		{Table: "message_raw", Name: "raw", Key: keyring.OrgAndID(), About: keyring.ByOrgAndID(sealedAs)},
		{Table: "mailbox_provider", Name: "key", Key: keyring.OrgAndID(), About: keyring.ByOrgAndID(sourceKey)},
	}
}

func sealContext(org, message id.ID) string {
	return keyring.ByOrgAndID(sealedAs)([]string{org.String(), message.String()})
}

// FromSandbox takes a mail with which a recipient of the sandbox answers the mailbox with an address.
func (s *Service) FromSandbox(ctx context.Context, org id.ID, to string, raw []byte) error {
	r := Route{Org: org}
	folded, _ := compare.SplitAddress(to)
	err := s.DB.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT id FROM mailbox WHERE org_id = $1 AND from_folded = $2 AND archived_at IS NULL`,
			[]any{tx.Org(), folded}, &r.Mailbox)
	})
	if err != nil {
		return fmt.Errorf("find mailbox: %w", err)
	}
	_, _, err = s.Intake(ctx, r, raw, Sandbox)
	return err
}

// Intake commits a mail and its job. It returns the message's id, and whether the mail is new.
func (s *Service) Intake(ctx context.Context, r Route, raw []byte, via string) (message id.ID, fresh bool, err error) {
	err = s.DB.Tx(ctx, r.Org, func(tx *postgres.Tx) (err error) {
		message, fresh, err = s.Take(ctx, tx, r.Mailbox, raw, via, wire.Now())
		return err
	})
	if err != nil {
		return message, false, fmt.Errorf("take mail: %w", err)
	}
	return message, fresh, nil
}

// Take inserts a message that arrived at a time, and adds its job, unless the mailbox has it already. It returns the
// message's id, and whether the mail is new.
func (s *Service) Take(ctx context.Context, tx *postgres.Tx, mailbox id.ID, raw []byte, via string, at wire.Time) (
	message id.ID, fresh bool, err error,
) {
	message, fresh, err = s.insertMessage(ctx, tx, mailbox, raw, via, at)
	if err != nil || !fresh {
		return message, false, err
	}
	return message, true, s.Enqueue(ctx, tx, message)
}

// Has reports whether a mailbox has the mail with a header, of which From, Date, Subject and Message-ID are given. A
// mail without a Message-ID of its own is not known by its header.
func (s *Service) Has(ctx context.Context, tx *postgres.Tx, mailbox id.ID, header []byte) (found bool, err error) {
	messageID := parse.SoleMessageID(header)
	if messageID == "" {
		return false, nil
	}
	_, raw, err := s.holder(ctx, tx, mailbox, identityOf(messageID))
	if postgres.None(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return raw == nil || parse.SameOrigin(raw, header), nil
}

// holder returns the message with an identity, and its mail; nil: the mail was swept.
func (s *Service) holder(ctx context.Context, tx *postgres.Tx, mailbox id.ID, identity []byte) (message id.ID,
	raw []byte, err error,
) {
	var sealed []byte
	err = tx.QueryRow(ctx, `
		SELECT m.id, r.raw FROM message m LEFT JOIN message_raw r ON r.org_id = m.org_id AND r.id = m.id
		WHERE m.org_id = $1 AND m.mailbox_id = $2 AND m.identity = $3`, []any{tx.Org(), mailbox, identity}, &message,
		&sealed)
	if err != nil {
		return message, nil, fmt.Errorf("find message: %w", err)
	}
	if sealed == nil {
		return message, nil, nil
	}
	if raw, err = s.Box.Open(sealed, sealContext(tx.Org(), message)); err != nil {
		return message, nil, fmt.Errorf("open mail: %w", err)
	}
	return message, raw, nil
}

// insertMessage inserts a message, unless the mailbox has it already.
func (s *Service) insertMessage(ctx context.Context, tx *postgres.Tx, mailbox id.ID, raw []byte, via string,
	at wire.Time,
) (message id.ID, fresh bool, err error) {
	return s.insertAs(ctx, tx, mailbox, raw, via, at, identityOfMail(raw))
}

// insertNamesake inserts a message whose identity the mailbox has already, unless it is a copy: its author may have
// used the Message-ID of another mail.
func (s *Service) insertNamesake(ctx context.Context, tx *postgres.Tx, mailbox id.ID, raw []byte, via string,
	at wire.Time, identity []byte,
) (message id.ID, fresh bool, err error) {
	message, first, err := s.holder(ctx, tx, mailbox, identity)
	if err != nil || first == nil || bytes.Equal(first, raw) {
		return message, false, err
	}
	essence := essenceOf(raw)
	if bytes.Equal(essenceOf(first), essence) {
		return message, false, nil
	}

	own := hashIdentity("namesake", string(identity)+string(essence))
	if bytes.Equal(own, identity) {
		return message, false, nil
	}

	return s.insertAs(ctx, tx, mailbox, raw, via, at, own)
}

// essenceOf returns the hash of what the author of a mail has written.
func essenceOf(raw []byte) []byte {
	h := sha256.New()
	parse.WriteEssence(h, raw)
	return h.Sum(nil)
}

// insertAs inserts a message with an identity.
func (s *Service) insertAs(ctx context.Context, tx *postgres.Tx, mailbox id.ID, raw []byte, via string, at wire.Time,
	identity []byte,
) (message id.ID, fresh bool, err error) {
	message = id.New()
	sealed, err := s.Box.Seal(raw, sealContext(tx.Org(), message))
	if err != nil {
		return message, false, fmt.Errorf("seal mail: %w", err)
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id, mailbox_id, identity) DO NOTHING RETURNING id`,
		[]any{tx.Org(), message, mailbox, identity, via, at}, &message)
	if postgres.None(err) {
		return s.insertNamesake(ctx, tx, mailbox, raw, via, at, identity)
	}
	if err != nil {
		return message, false, fmt.Errorf("insert message: %w", err)
	}

	tx.Queue(`INSERT INTO message_raw (org_id, id, raw, created_at) VALUES ($1, $2, $3, $4)`, tx.Org(), message, sealed,
		wire.Now())

	return message, true, nil
}

// identityOfMail returns the hash by which a second copy of a mail is known.
func identityOfMail(raw []byte) []byte {
	h := sha256.New()
	parse.WriteIdentity(h, raw)
	return h.Sum(nil)[:16]
}

// identityOf returns what identityOfMail returns of a mail whose only Message-ID is given.
func identityOf(messageID string) []byte { return hashIdentity("id", messageID) }

func hashIdentity(kind, text string) []byte {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return sum[:16]
}
