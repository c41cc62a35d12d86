package inbound

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/provider"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Source is the provider of a mailbox as the API shows it. Its key is never shown.
type Source struct {
	Provider    string     `json:"provider" enum:"ses,postmark,mailgun,sendgrid" doc:"The provider"`
	EventsPath  string     `json:"events_path"`
	CreatedAt   wire.Time  `json:"created_at" format:"date-time" doc:"When it was set"`
	UpdatedAt   wire.Time  `json:"updated_at" format:"date-time" doc:"When it or its key was last changed"`
	LastEventAt *wire.Time `json:"last_event_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Source) Descriptions() map[string]string {
	return map[string]string{
		"events_path":   "Path that takes the provider's events; the token at the end of inbound_url follows it",
		"last_event_at": "When the provider last posted an event; null: never",
	}
}

// EventsPath is the path that takes the events of a provider, whose name and the token of the mailbox follow it.
const EventsPath = "/inbound/events/"

const sourceKey = "mailbox_provider"

func aboutKey(org, mailbox id.ID) string {
	return keyring.ByOrgAndID(sourceKey)([]string{org.String(), mailbox.String()})
}

func noSource() error {
	return fault.New(fault.NotFound, "The mailbox has no provider that posts events.")
}

// GetSource returns the provider of a mailbox. The error is a not_found fault if there is none.
func GetSource(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (s Source, err error) {
	err = tx.QueryRow(ctx, `SELECT provider, created_at, updated_at, last_event_at FROM mailbox_provider
		WHERE org_id = $1 AND id = $2`, []any{tx.Org(), mailbox}, &s.Provider, &s.CreatedAt, &s.UpdatedAt,
		&s.LastEventAt)
	if postgres.None(err) {
		return s, noSource()
	}
	if err != nil {
		return s, fmt.Errorf("read provider: %w", err)
	}
	s.EventsPath = EventsPath + s.Provider + "/"
	return s, nil
}

// SetSource sets the provider of a mailbox and the key that verifies its requests.
func (s *Service) SetSource(ctx context.Context, tx *postgres.Tx, mailbox id.ID, name string, key secret.Text) (Source,
	error,
) {
	if !provider.CheckKey(name, key.Reveal()) {
		return Source{}, fault.Invalid("key", "invalid_key", "This is no key of the provider: see its description.")
	}
	sealed, err := s.Box.Seal([]byte(key.Reveal()), aboutKey(tx.Org(), mailbox))
	if err != nil {
		return Source{}, fmt.Errorf("seal key: %w", err)
	}
	tx.Queue(`INSERT INTO mailbox_provider (org_id, id, provider, key, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $5)
		ON CONFLICT (org_id, id) DO UPDATE SET provider = $3, key = $4, updated_at = $5,
			last_event_at = CASE WHEN mailbox_provider.provider = $3 THEN mailbox_provider.last_event_at END`,
		tx.Org(), mailbox, name, sealed, wire.Now())
	return GetSource(ctx, tx, mailbox)
}

// RemoveSource removes the provider of a mailbox, and reports whether there was one.
func RemoveSource(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (bool, error) {
	n, err := tx.Exec(ctx, `DELETE FROM mailbox_provider WHERE org_id = $1 AND id = $2`, tx.Org(), mailbox)
	if err != nil {
		return false, fmt.Errorf("remove provider: %w", err)
	}
	return n > 0, nil
}

// KeyOf returns the key of a mailbox's provider. The error is a not_found fault if it is not the named one.
func (s *Service) KeyOf(ctx context.Context, r Route, name string) (secret.Text, error) {
	var sealed []byte
	err := s.DB.ReadTx(ctx, r.Org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT key FROM mailbox_provider WHERE org_id = $1 AND id = $2 AND provider = $3`,
			[]any{tx.Org(), r.Mailbox, name}, &sealed)
	})
	if postgres.None(err) {
		return "", noSource()
	}
	if err != nil {
		return "", fmt.Errorf("read key of provider: %w", err)
	}
	plain, err := s.Box.Open(sealed, aboutKey(r.Org, r.Mailbox))
	if err != nil {
		return "", fmt.Errorf("open key of provider: %w", err)
	}
	return secret.Text(plain), nil
}
