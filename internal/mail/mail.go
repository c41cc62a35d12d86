// Package mail writes the mails that the platform itself sends to people: links to reset a password, verify an address
// or join an org. The brand is applied when a mail is sent; until then the mail is stored as a Template.
package mail

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Message is one mail, as plain text and as HTML with the same content.
type Message struct {
	To      string `json:"-"`
	Subject string `json:"-"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	// Letter is the template of the mail, from which Dress renders it in another brand.
	Letter *Template `json:"letter,omitempty"`

	dressed bool   // from replaces the name in the settings
	from    string // the sender's name; "": address only
}

// Write stores m in tx for tx's org and returns its id. The body is encrypted, because its link grants access. Enqueue
// a mail.system job with that id in the same transaction.
func Write(tx *postgres.Tx, box *secret.Sealer, m Message) (id.ID, error) {
	mail, body, err := seal(tx, box, m)
	if err != nil {
		return mail, err
	}
	tx.Queue(`INSERT INTO system_mail (org_id, id, recipient, subject, body) VALUES ($1, $2, $3, $4, $5)`, tx.Org(),
		mail, m.To, m.Subject, body)
	return mail, nil
}

// WriteToKnown is Write to the user with the folded address m.To, at the address that the user entered; tx must have
// the System role. If there is no such user, it stores nothing but costs the same, so the caller cannot learn whether
// the user exists.
func WriteToKnown(tx *postgres.Tx, box *secret.Sealer, m Message) (id.ID, error) {
	mail, body, err := seal(tx, box, m)
	if err != nil {
		return mail, err
	}
	tx.Queue(`INSERT INTO system_mail (org_id, id, recipient, subject, body)
		SELECT $1, $2, email, $4, $5 FROM app_user WHERE email_folded = $3`, tx.Org(), mail, m.To, m.Subject, body)
	return mail, nil
}

func seal(tx *postgres.Tx, box *secret.Sealer, m Message) (mail id.ID, body []byte, err error) {
	mail = id.New()
	plain, err := json.Marshal(m)
	if err != nil {
		return mail, nil, fmt.Errorf("encode mail: %w", err)
	}
	body, err = box.Seal(plain, about(tx.Org(), mail))
	return mail, body, err
}

// about returns the associated data that binds a sealed body to its row, for system_mail and sandbox_mail.
func about(org, mail id.ID) string { return "system_mail/" + org.String() + "/" + mail.String() }

// Read returns an unsent mail of tx's org, or nil if it was sent or does not exist.
func Read(ctx context.Context, tx *postgres.Tx, box *secret.Sealer, mail id.ID) (*Message, error) {
	var (
		m    Message
		body []byte
	)
	err := tx.QueryRow(ctx,
		`SELECT recipient, subject, body FROM system_mail WHERE org_id = $1 AND id = $2 AND body IS NOT NULL`,
		[]any{tx.Org(), mail}, &m.To, &m.Subject, &body)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // nothing to send is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read mail: %w", err)
	}
	return &m, Open(box, tx.Org(), mail, body, &m)
}

// Open decrypts and decodes a sealed body into m.
func Open(box *secret.Sealer, org, mail id.ID, body []byte, m *Message) error {
	plain, err := box.Open(body, about(org, mail))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(plain, m); err != nil {
		return fmt.Errorf("decode mail: %w", err)
	}
	return nil
}

// Sent deletes the body of a sent mail and keeps the other columns for support.
func Sent(tx *postgres.Tx, mail id.ID) {
	tx.Queue(`UPDATE system_mail SET sent_at = now(), body = NULL WHERE org_id = $1 AND id = $2`, tx.Org(), mail)
}

// ToSandbox moves a mail to the sandbox mailbox in its final form m instead of sending it.
func ToSandbox(tx *postgres.Tx, box *secret.Sealer, mail id.ID, m *Message) error {
	plain, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode mail: %w", err)
	}
	body, err := box.Seal(plain, about(tx.Org(), mail))
	if err != nil {
		return err
	}
	tx.Queue(`
		INSERT INTO sandbox_mail (org_id, id, recipient, subject, body)
		SELECT org_id, id, recipient, $3, $4 FROM system_mail WHERE org_id = $1 AND id = $2 AND body IS NOT NULL
		ON CONFLICT (org_id, id) DO NOTHING`, tx.Org(), mail, m.Subject, body)
	Sent(tx, mail)
	return nil
}

// Sweep deletes mails older than 30 days; tx must have the System role.
func Sweep(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM system_mail WHERE created_at < now() - interval '30 days'`)
	tx.Queue(`DELETE FROM sandbox_mail WHERE received_at < now() - interval '30 days'`)
}
