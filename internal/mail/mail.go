// Package mail is what the platform itself sends to people: links to reset a password, prove an address or
// join an org. In whose name is found out when a mail is sent; until then it is kept as a Letter.
package mail

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Message is one mail: text for every reader, and the same as HTML.
type Message struct {
	To      string `json:"-"`
	Subject string `json:"-"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	// Letter is what it was made of, to make it anew in another look.
	Letter *Letter `json:"letter,omitempty"`

	dressed bool   // from stands in place of the name in the settings
	from    string // the sender's name; "" for the address alone
}

// Write stores m in tx for tx's org, its body sealed since it bears a link that lets its holder in, and answers
// its id. Ask for a mail.system job of that id in the same transaction.
func Write(tx *postgres.Tx, box *secret.Box, m Message) (id.ID, error) {
	mail, body, err := seal(tx, box, m)
	if err != nil {
		return mail, err
	}
	tx.Queue(`INSERT INTO system_mail (org_id, id, recipient, subject, body) VALUES ($1, $2, $3, $4, $5)`, tx.Org(), mail, m.To, m.Subject, body)
	return mail, nil
}

// WriteToKnown is Write to the person whose folded address is m.To, under the address that they gave
// themselves; tx runs as System. Where there is no such person nothing is stored, at the same cost, so that
// whoever asks for the mail learns nothing.
func WriteToKnown(tx *postgres.Tx, box *secret.Box, m Message) (id.ID, error) {
	mail, body, err := seal(tx, box, m)
	if err != nil {
		return mail, err
	}
	tx.Queue(`INSERT INTO system_mail (org_id, id, recipient, subject, body)
		SELECT $1, $2, email, $4, $5 FROM app_user WHERE email_folded = $3`, tx.Org(), mail, m.To, m.Subject, body)
	return mail, nil
}

func seal(tx *postgres.Tx, box *secret.Box, m Message) (mail id.ID, body []byte, err error) {
	mail = id.New()
	plain, err := json.Marshal(m)
	if err != nil {
		return mail, nil, fmt.Errorf("encode mail: %w", err)
	}
	body, err = box.Seal(plain, about(tx.Org(), mail))
	return mail, body, err
}

// about binds a sealed body to its row, in system_mail and in sandbox_mail alike.
func about(org, mail id.ID) string { return "system_mail/" + org.String() + "/" + mail.String() }

// Read answers a mail of tx's org that is still to be sent; nil where it was sent or never written.
func Read(ctx context.Context, tx *postgres.Tx, box *secret.Box, mail id.ID) (*Message, error) {
	var (
		m    Message
		body []byte
	)
	err := tx.QueryRow(ctx, `SELECT recipient, subject, body FROM system_mail WHERE org_id = $1 AND id = $2 AND body IS NOT NULL`,
		[]any{tx.Org(), mail}, &m.To, &m.Subject, &body)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // nothing to send is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read mail: %w", err)
	}
	return &m, Open(box, tx.Org(), mail, body, &m)
}

// Open decodes a sealed body into m.
func Open(box *secret.Box, org, mail id.ID, body []byte, m *Message) error {
	plain, err := box.Open(body, about(org, mail))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(plain, m); err != nil {
		return fmt.Errorf("decode mail: %w", err)
	}
	return nil
}

// Sent drops the body of a mail that has gone out, and keeps the rest for support.
func Sent(tx *postgres.Tx, mail id.ID) {
	tx.Queue(`UPDATE system_mail SET sent_at = now(), body = NULL WHERE org_id = $1 AND id = $2`, tx.Org(), mail)
}

// ToSandbox moves a mail to the sandbox mailbox, as m would be sent, in place of sending it.
func ToSandbox(tx *postgres.Tx, box *secret.Box, mail id.ID, m *Message) error {
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

// Sweep deletes mail older than 30 days, in tx, which runs as System.
func Sweep(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM system_mail WHERE created_at < now() - interval '30 days'`)
	tx.Queue(`DELETE FROM sandbox_mail WHERE received_at < now() - interval '30 days'`)
}
