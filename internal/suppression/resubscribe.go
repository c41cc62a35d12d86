package suppression

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Resubscribe lifts what the person behind an address once asked for by unsubscribing, because the same person consents
// anew. Suppressions with other reasons stay.
func (s *Service) Resubscribe(ctx context.Context, tx *postgres.Tx, address string) error {
	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return err
	}
	_, _, hash := hashKey(pair.Org, New{Email: address})
	tx.Queue(`SELECT pg_advisory_xact_lock($1)`, lockOf(tx.Org(), hash))
	tx.Queue(`UPDATE suppression SET lifted_at = $4, lift_reason = 'confirmed again by the contact'
		WHERE org_id = $1 AND hash = $2 AND reason = $3 AND lifted_at IS NULL`, tx.Org(), hash, Unsubscribe, wire.Now())
	return nil
}
