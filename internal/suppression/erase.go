package suppression

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Erase queues the removal of an address from the suppressions of the org of tx, with their notes. The hashes stay, so
// what was suppressed stays suppressed.
func (s *Service) Erase(ctx context.Context, tx *postgres.Tx, address string) error {
	pair, err := orgkey.Find(ctx, tx, s.Box)
	if err != nil || pair.Org.IsZero() {
		return err
	}
	_, _, hash := hashed(pair.Org, New{Email: address})
	tx.Queue(`UPDATE suppression SET address = NULL, note = '' WHERE org_id = $1 AND hash = $2`, tx.Org(), hash)
	return nil
}
