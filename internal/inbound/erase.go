package inbound

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Erase queues the deletion of the messages of a contact, of those from its address, and of its threads with all their
// messages.
func Erase(tx *postgres.Tx, contact id.ID, address string) {
	const of = ` WHERE m.org_id = $1 AND (m.contact_id = $2 OR m.from_folded = $3
		OR m.thread_id IN (SELECT id FROM thread WHERE org_id = $1 AND contact_id = $2))`
	folded := foldAddress(address)
	tx.Queue(`DELETE FROM message_raw r USING message m`+of+` AND r.org_id = $1 AND r.id = m.id`, tx.Org(), contact,
		folded)
	tx.Queue(`DELETE FROM message m`+of, tx.Org(), contact, folded)
	tx.Queue(`DELETE FROM thread t WHERE t.org_id = $1 AND (t.contact_id = $2
		OR NOT EXISTS (SELECT FROM message m WHERE m.org_id = $1 AND m.thread_id = t.id))`, tx.Org(), contact)
}
