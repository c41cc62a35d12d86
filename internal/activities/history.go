package activities

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// RecordNotes queues notes of the past, with the times that they have. The caller has checked them and their subjects.
func RecordNotes(tx *postgres.Tx, all []Note) {
	for i := range all {
		n := &all[i]
		tx.Queue(`INSERT INTO note (org_id, id, body, author_id, contact_id, company_id, deal_id, created_at,
			updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			tx.Org(), n.ID, n.Body, n.AuthorID, n.ContactID, n.CompanyID, n.DealID, n.CreatedAt, n.UpdatedAt)
	}
}

// RecordTasks is RecordNotes for tasks.
func RecordTasks(tx *postgres.Tx, all []Task) {
	for i := range all {
		t := &all[i]
		tx.Queue(`INSERT INTO task (org_id, id, title, description, status, priority, due_at, assignee_id, contact_id,
			company_id, deal_id, completed_at, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			tx.Org(), t.ID, t.Title, t.Description, t.Status, t.Priority, t.DueAt, t.AssigneeID, t.ContactID,
			t.CompanyID, t.DealID, t.CompletedAt, t.CreatedAt, t.UpdatedAt)
	}
}

// RecordCompletion queues that a task was completed at a time of the past.
func RecordCompletion(tx *postgres.Tx, task id.ID, at wire.Time) {
	tx.Queue(`UPDATE task SET status = 'done', completed_at = $3, updated_at = $3, edit = edit + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), task, at)
}
