package suppression

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Erase queues the removal of an address from the suppressions of the org of tx, with their notes, and from the refused
// lines of imports. The hashes stay, so what was suppressed stays suppressed.
func (s *Service) Erase(ctx context.Context, tx *postgres.Tx, address string) error {
	tx.Queue(`DELETE FROM suppression_import_error WHERE org_id = $1
		AND position(lower(encode(convert_to($2, 'UTF8'), 'escape')) IN lower(encode(cells, 'escape'))) > 0`, tx.Org(),
		address)
	pair, err := orgkey.Find(ctx, tx, s.Box)
	if err != nil || pair.Org.IsZero() {
		return err
	}
	_, _, hash := hashKey(pair.Org, New{Email: address})
	tx.Queue(`UPDATE suppression SET address = NULL, note = '' WHERE org_id = $1 AND hash = $2`, tx.Org(), hash)
	return nil
}
