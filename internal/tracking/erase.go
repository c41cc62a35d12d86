package tracking

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
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
