package emails

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Repoint gives the emails of the contacts from to the contact to. Their addresses stay, and those that are not
// transmitted yet still go to them. It returns the data that Return needs.
func Repoint(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (json.RawMessage, error) {
	rows, err := tx.Query(ctx, `WITH was AS (SELECT id, contact_id FROM email
			WHERE org_id = $1 AND contact_id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE)
		UPDATE email e SET contact_id = $3, computed = computed + 1 FROM was
		WHERE e.org_id = $1 AND e.id = was.id RETURNING was.id, was.contact_id`, tx.Org(), from, to)
	if err != nil {
		return nil, fmt.Errorf("reassign emails: %w", err)
	}
	h := record.Handed{To: to, From: map[id.ID][]id.ID{}}
	var one, contact id.ID
	if _, err := pgx.ForEachRow(rows, []any{&one, &contact}, func() error {
		h.From[contact] = append(h.From[contact], one)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("reassign emails: %w", err)
	}
	return record.Remember(h)
}

// Return undoes Repoint for the emails that still belong to the contact that Repoint gave them to.
func Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var h record.Handed
	if err := record.Recall(moved, &h); err != nil {
		return err
	}
	for contact, all := range h.From {
		tx.Queue(`UPDATE email SET contact_id = $3, computed = computed + 1
			WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND contact_id = $4`, tx.Org(), all, contact, h.To)
	}
	return nil
}
