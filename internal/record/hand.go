package record

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Handed are the records of a table that went from some contacts to one: what a merge remembers, to be undone.
type Handed struct {
	To   id.ID             `json:"to"`
	From map[id.ID][]id.ID `json:"from"` // records by the contact that had them
}

// Hand gives the records of the contacts from, archived ones too, to the contact to. Their edit moves, because they show
// another contact, and their updated_at stays: nobody worked on them.
func (t *Table[T]) Hand(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (Handed, error) {
	rows, err := tx.Query(ctx, `WITH was AS (SELECT id, contact_id FROM `+t.Name+` WHERE org_id = $1 AND contact_id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE)
		UPDATE `+t.Name+` r SET contact_id = $3, edit = edit + 1 FROM was WHERE r.org_id = $1 AND r.id = was.id RETURNING was.id, was.contact_id`, tx.Org(), from, to)
	if err != nil {
		return Handed{}, fmt.Errorf("hand %s over: %w", t.Name, err)
	}
	h := Handed{To: to, From: map[id.ID][]id.ID{}}
	var one, contact id.ID
	if _, err := pgx.ForEachRow(rows, []any{&one, &contact}, func() error { h.From[contact] = append(h.From[contact], one); return nil }); err != nil {
		return Handed{}, fmt.Errorf("hand %s over: %w", t.Name, err)
	}
	return h, nil
}

// Return queues that each record which still has the contact that Hand gave it gets the former one back.
func (t *Table[T]) Return(tx *postgres.Tx, h Handed) {
	for contact, records := range h.From {
		tx.Queue(`UPDATE `+t.Name+` SET contact_id = $3, edit = edit + 1 WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND contact_id = $4`, tx.Org(), records, contact, h.To)
	}
}

// Of answers every record of a contact, archived ones too, in the order of their making.
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

// Remember is h as it is stored.
func Remember(h any) (json.RawMessage, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode what was handed over: %w", err)
	}
	return b, nil
}

// Recall reads what Remember has made.
func Recall(moved json.RawMessage, h any) error {
	if err := json.Unmarshal(moved, h); err != nil {
		return fmt.Errorf("decode what was handed over: %w", err)
	}
	return nil
}
