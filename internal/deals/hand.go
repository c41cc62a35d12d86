package deals

import (
	"context"
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Repoint moves the deals of the contacts from to the contact to. It returns the data that Return needs to undo the
// move.
func Repoint(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (json.RawMessage, error) {
	h, err := table.Hand(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	return record.Remember(h)
}

// Return undoes Repoint for the deals that still belong to the contact that Repoint gave them to.
func Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var h record.Handed
	if err := record.Recall(moved, &h); err != nil {
		return err
	}
	table.Return(tx, h)
	return nil
}

// Erase queues the removal of the contact from all deals. The deals are kept, because they are business records of the
// org.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`UPDATE deal SET contact_id = NULL, edit = edit + 1 WHERE org_id = $1 AND contact_id = $2`, tx.Org(),
		contact)
}

// Held returns every deal of a contact, including archived ones, for a data export.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]Deal, error) {
	return table.Of(ctx, tx, contact)
}
