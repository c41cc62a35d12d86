package record

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Handed lists the records of a table that were moved from some contacts to one. A merge stores it for its undo.
type Handed struct {
	To   id.ID             `json:"to"`
	From map[id.ID][]id.ID `json:"from"` // records by their previous contact
}

// Hand moves the records of the contacts from, including archived ones, to the contact to. It increments their edit,
// because they show another contact, but leaves updated_at unchanged, because no user edited them.
func (t *Table[T]) Hand(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (Handed, error) {
	rows, err := tx.Query(ctx,
		`WITH was AS (SELECT id, contact_id FROM `+t.Name+
			` WHERE org_id = $1 AND contact_id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE)
		UPDATE `+t.Name+
			` r SET contact_id = $3, edit = edit + 1 FROM was WHERE r.org_id = $1 AND r.id = was.id
				RETURNING was.id, was.contact_id`, tx.Org(), from, to)
	if err != nil {
		return Handed{}, fmt.Errorf("reassign %s: %w", t.Name, err)
	}
	h := Handed{To: to, From: map[id.ID][]id.ID{}}
	var one, contact id.ID
	if _, err := pgx.ForEachRow(rows, []any{&one, &contact}, func() error {
		h.From[contact] = append(h.From[contact], one)
		return nil
	}); err != nil {
		return Handed{}, fmt.Errorf("reassign %s: %w", t.Name, err)
	}
	return h, nil
}

// Return queues giving each record back to its previous contact, unless the record was moved again since Hand.
func (t *Table[T]) Return(tx *postgres.Tx, h Handed) {
	for contact, records := range h.From {
		tx.Queue(`UPDATE `+t.Name+
			` SET contact_id = $3, edit = edit + 1 WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND contact_id = $4`,
			tx.Org(), records, contact, h.To)
	}
}

// Of returns every record of a contact, including archived ones, in the order of creation.
func (t *Table[T]) Of(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]T, error) {
	rows, err := t.Select(ctx, tx, false, "contact_id = $2", contact)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(rows))
	for i := range rows {
		all[i] = rows[i].Value
	}
	return all, nil
}

// Remember encodes h for storage.
func Remember(h any) (json.RawMessage, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode reassigned records: %w", err)
	}
	return b, nil
}

// Recall decodes the result of Remember into h.
func Recall(moved json.RawMessage, h any) error {
	if err := json.Unmarshal(moved, h); err != nil {
		return fmt.Errorf("decode reassigned records: %w", err)
	}
	return nil
}
