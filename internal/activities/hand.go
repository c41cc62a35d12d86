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

// Repoint hands the notes and tasks of the contacts from over to the contact to, and answers what Return needs.
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

// Return gives back what is still where Repoint has put it.
func Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var h handed
	if err := record.Recall(moved, &h); err != nil {
		return err
	}
	notes.Return(tx, h.Notes)
	tasks.Return(tx, h.Tasks)
	return nil
}

// Erase queues that notes and tasks about the contact alone are gone for good, and that the others, which are about a
// company or a deal too, no longer name it.
func Erase(tx *postgres.Tx, contact id.ID) {
	for _, table := range []string{"note", "task"} {
		tx.Queue(`DELETE FROM `+table+` WHERE org_id = $1 AND contact_id = $2 AND company_id IS NULL AND deal_id IS NULL`, tx.Org(), contact)
		tx.Queue(`UPDATE `+table+` SET contact_id = NULL, edit = edit + 1 WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
	}
}

// About is what a data export has of a contact's notes and tasks, archived ones too.
type About struct {
	Notes []Note `json:"notes"`
	Tasks []Task `json:"tasks"`
}

// Held is everything here about a contact.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) (a About, err error) {
	if a.Notes, err = notes.Of(ctx, tx, contact); err != nil {
		return a, err
	}
	a.Tasks, err = tasks.Of(ctx, tx, contact)
	return a, err
}
