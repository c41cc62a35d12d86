package outbox

import (
	"bytes"
	"context"
	"fmt"
	"net/mail"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const sealedAs = "sandbox_email"

// Sealed lists the column with the sealed mails.
func Sealed() []keyring.Column {
	return []keyring.Column{{
		Table: "sandbox_email", Name: "raw", Key: keyring.OrgAndID(), About: keyring.ByOrgAndID(sealedAs),
	}}
}

func sealContext(org, kept id.ID) string {
	return keyring.ByOrgAndID(sealedAs)([]string{org.String(), kept.String()})
}

// storeMail commits a mail.
func (s *Server) storeMail(ctx context.Context, org id.ID, from, to string, raw []byte) error {
	kept := id.New()
	messageID := ""
	if m, err := mail.ReadMessage(bytes.NewReader(raw)); err == nil {
		messageID = strings.Trim(strings.TrimSpace(m.Header.Get("Message-ID")), "<>")
	}

	sealed, err := s.box.Seal(raw, sealContext(org, kept))
	if err != nil {
		return fmt.Errorf("seal mail: %w", err)
	}

	err = s.app.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO sandbox_email (org_id, id, message_id, sender, recipient, raw, received_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, org, kept, messageID, from, to, sealed, wire.Now())
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep mail: %w", err)
	}

	return nil
}

// Has reports whether the server has taken a mail of an org with the Message-ID, which is given without angle brackets.
func (s *Server) Has(ctx context.Context, org id.ID, messageID string) (found bool, err error) {
	err = s.app.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sandbox_email WHERE org_id = $1 AND message_id = $2)`,
			[]any{org, messageID}, &found)
	})
	if err != nil {
		return false, fmt.Errorf("find mail: %w", err)
	}

	return found, nil
}

// Erase queues the deletion of the mails to a contact. Call it before emails.Erase.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM sandbox_email s USING email e WHERE e.org_id = $1 AND e.contact_id = $2 AND s.org_id = $1
		AND s.message_id = e.message_id`, tx.Org(), contact)
}

// kept is a mail that the server has taken.
type kept struct {
	Org        id.ID     `json:"org_id"`
	ID         id.ID     `json:"id"`
	MessageID  string    `json:"message_id"`
	From       string    `json:"from"`
	To         string    `json:"to"`
	ReceivedAt wire.Time `json:"received_at"`

	sealed []byte
}

const keptColumns = `org_id, id, message_id, sender, recipient, received_at, raw`

func scanKept(row pgx.CollectableRow) (k kept, err error) {
	err = row.Scan(&k.Org, &k.ID, &k.MessageID, &k.From, &k.To, &k.ReceivedAt, &k.sealed)
	return k, err
}
