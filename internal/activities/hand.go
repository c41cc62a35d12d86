package activities

import (
	"context"
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

type handed struct {
	Notes record.Handed `json:"notes"`
	Tasks record.Handed `json:"tasks"`
}

// Repoint moves the notes and tasks of the contacts from to the contact to. It returns the data that Return needs to
// undo the move.
func Repoint(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (json.RawMessage, error) {
	var (
		h   handed
		err error
	)
	if h.Notes, err = notes.Hand(ctx, tx, from, to); err != nil {
		return nil, err
	}
	if h.Tasks, err = tasks.Hand(ctx, tx, from, to); err != nil {
		return nil, err
	}
	return record.Remember(h)
}

// Return undoes Repoint for the notes and tasks that still belong to the contact that Repoint gave them to.
func Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var h handed
	if err := record.Recall(moved, &h); err != nil {
		return err
	}
	notes.Return(tx, h.Notes)
	tasks.Return(tx, h.Tasks)
	return nil
}

// Erase queues the deletion of the notes and tasks that are only about the contact. Notes and tasks that also have a
// company or a deal are kept without the contact.
func Erase(tx *postgres.Tx, contact id.ID) {
	for _, table := range []string{"note", "task"} {
		tx.Queue(`DELETE FROM `+table+
			` WHERE org_id = $1 AND contact_id = $2 AND company_id IS NULL AND deal_id IS NULL`, tx.Org(), contact)
		tx.Queue(`UPDATE `+table+` SET contact_id = NULL, edit = edit + 1 WHERE org_id = $1 AND contact_id = $2`,
			tx.Org(), contact)
	}
}

// About is the part of a data export that holds a contact's notes and tasks, including archived ones.
type About struct {
	Notes []Note `json:"notes" doc:"The notes about the contact, oldest first, archived ones included"`
	Tasks []Task `json:"tasks" doc:"The tasks about the contact, oldest first, archived ones included"`
}

// Held returns all notes and tasks about a contact, including archived ones.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) (a About, err error) {
	if a.Notes, err = notes.Of(ctx, tx, contact); err != nil {
		return a, err
	}
	a.Tasks, err = tasks.Of(ctx, tx, contact)
	return a, err
}
