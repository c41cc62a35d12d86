package tracking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Erase queues the removal of a contact from what is known of its emails. The facts stay without the contact, because
// statistics count them. It must come before emails.Erase.
func Erase(tx *postgres.Tx, contact id.ID) {
	for _, table := range []string{"email_link", "email_hit"} {
		tx.Queue(`DELETE FROM `+table+` t USING email e WHERE e.org_id = $1 AND e.contact_id = $2 AND t.org_id = $1
			AND t.email_id = e.id`, tx.Org(), contact)
	}
	tx.Queue(`UPDATE email_fact SET contact_id = NULL WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}

// Fact is an open or a click of an email, or a reply to it.
type Fact struct {
	EmailID id.ID     `json:"email_id" format:"uuid" doc:"ID of the email"`
	Kind    string    `json:"kind" enum:"opened,clicked,replied" doc:"What was done"`
	URL     *string   `json:"url" doc:"The link that was followed; null: none"`
	Machine bool      `json:"machine" doc:"Whether a proxy or scanner seems to have done it, not a person"`
	Why     []string  `json:"why" doc:"Signs of a machine, as in the event"`
	At      wire.Time `json:"at" format:"date-time" doc:"When it was done"`
}

// Held returns every open, click and reply of a contact, oldest first.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]Fact, error) {
	rows, err := tx.Query(ctx, `SELECT f.email_id, f.kind, l.url, f.machine, f.why, f.at FROM email_fact f
		LEFT JOIN email_link l ON l.org_id = f.org_id AND l.email_id = f.email_id AND l.n = f.link
		WHERE f.org_id = $1 AND f.contact_id = $2 ORDER BY f.at, f.id`, tx.Org(), contact)
	if err != nil {
		return nil, fmt.Errorf("read opens and clicks: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Fact])
	if err != nil {
		return nil, fmt.Errorf("read opens and clicks: %w", err)
	}
	return all, nil
}
