package emails

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Erase queues the removal of a contact from its emails. The rows stay without their subject and address, because caps
// and statistics count them; those that are not transmitted yet are cancelled.
func Erase(tx *postgres.Tx, contact id.ID) {
	for _, table := range []string{"email_content", "email_attachment"} {
		tx.Queue(`DELETE FROM `+table+` t USING email e WHERE e.org_id = $1 AND e.contact_id = $2 AND t.org_id = $1
			AND t.email_id = e.id`, tx.Org(), contact)
	}
	tx.Queue(`UPDATE email SET contact_id = NULL, to_email = '', to_domain = '', subject = '', smtp_reply = '',
			status = CASE WHEN status IN ('scheduled', 'planned') THEN 'cancelled' ELSE status END,
			status_reason = CASE WHEN status IN ('scheduled', 'planned') THEN 'contact_archived' ELSE status_reason END
		WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}

// Held returns every email of a contact with its content, oldest first.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]*Full, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND contact_id = $2 ORDER BY id`,
		tx.Org(), contact)
	if err != nil {
		return nil, fmt.Errorf("read emails: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read emails: %w", err)
	}

	all := make([]*Full, len(found))
	for i, r := range found {
		if all[i], err = WithContent(ctx, tx, r); err != nil {
			return nil, err
		}
	}

	return all, nil
}
