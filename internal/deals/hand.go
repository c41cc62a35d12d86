package deals

import (
	"context"
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Repoint hands the deals of the contacts from over to the contact to, and answers what Return needs.
func Repoint(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (json.RawMessage, error) {
	h, err := table.Hand(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	return record.Remember(h)
}

// Return gives back the deals that are still where Repoint has put them.
func Return(_ context.Context, tx *postgres.Tx, moved json.RawMessage) error {
	var h record.Handed
	if err := record.Recall(moved, &h); err != nil {
		return err
	}
	table.Return(tx, h)
	return nil
}

// Erase queues that no deal names the contact any more. The deals stay: they are the org's own business.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`UPDATE deal SET contact_id = NULL, edit = edit + 1 WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}

// Held is every deal of a contact, archived ones too: what a data export has of them.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]Deal, error) {
	return table.Of(ctx, tx, contact)
}
