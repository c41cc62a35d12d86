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

// Rows are the rows of a table that belong to contacts.
type Rows struct {
	Table   string
	Counter string // column that counts changes; "": none
}

// Repoint moves the rows of the contacts from to the contact to. It returns the data that Return needs to undo it.
func (r Rows) Repoint(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (json.RawMessage, error) {
	h, err := r.moveRecords(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	return Remember(h)
}

// Return undoes Repoint for the rows that still belong to the contact that Repoint gave them to.
func (r Rows) Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var h Handed
	if err := Recall(moved, &h); err != nil {
		return err
	}
	r.queueReturn(tx, h)
	return nil
}

func (r Rows) moveRecords(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (Handed, error) {
	rows, err := tx.Query(ctx,
		`WITH was AS (SELECT id, contact_id FROM `+r.Table+
			` WHERE org_id = $1 AND contact_id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE)
		UPDATE `+r.Table+` r SET contact_id = $3`+r.countSQL()+` FROM was WHERE r.org_id = $1 AND r.id = was.id
				RETURNING was.id, was.contact_id`, tx.Org(), from, to)
	if err != nil {
		return Handed{}, fmt.Errorf("reassign %s: %w", r.Table, err)
	}
	h := Handed{To: to, From: map[id.ID][]id.ID{}}
	var one, contact id.ID
	if _, err := pgx.ForEachRow(rows, []any{&one, &contact}, func() error {
		h.From[contact] = append(h.From[contact], one)
		return nil
	}); err != nil {
		return Handed{}, fmt.Errorf("reassign %s: %w", r.Table, err)
	}
	return h, nil
}

func (r Rows) queueReturn(tx *postgres.Tx, h Handed) {
	for contact, records := range h.From {
		tx.Queue(`UPDATE `+r.Table+` r SET contact_id = $3`+r.countSQL()+
			` WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND contact_id = $4`, tx.Org(), records, contact, h.To)
	}
}

func (r Rows) countSQL() string {
	if r.Counter == "" {
		return ""
	}
	return ", " + r.Counter + " = r." + r.Counter + " + 1"
}

// Hand moves the records of the contacts from, including archived ones, to the contact to. It increments their edit,
// because they show another contact, but leaves updated_at unchanged, because no user edited them.
func (t *Table[T]) Hand(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (Handed, error) {
	return t.rows().moveRecords(ctx, tx, from, to)
}

// Return queues giving each record back to its previous contact, unless the record was moved again since Hand.
func (t *Table[T]) Return(tx *postgres.Tx, h Handed) { t.rows().queueReturn(tx, h) }

func (t *Table[T]) rows() Rows { return Rows{t.Name, "edit"} }

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
