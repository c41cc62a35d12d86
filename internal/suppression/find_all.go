package suppression

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// FindAll reports for each of many addresses whether a suppression refuses automated mail to it. Marks check again.
func (s *Service) FindAll(ctx context.Context, tx *postgres.Tx, addresses []string) ([]bool, error) {
	if len(addresses) == 0 {
		return nil, nil
	}

	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return nil, err
	}

	keys := make([]Keys, len(addresses))
	var own, platform [][]byte
	for i, a := range addresses {
		keys[i] = hashesOf(pair, a)
		own, platform = append(own, keys[i].Org...), append(platform, keys[i].Platform...)
	}

	rows, err := tx.Query(ctx, `SELECT hash FROM suppression WHERE lifted_at IS NULL AND (org_id = $1
		AND hash = ANY ($2::bytea[]) OR org_id = '00000000-0000-0000-0000-000000000000' AND hash = ANY ($3::bytea[]))`,
		tx.Org(), own, platform)
	if err != nil {
		return nil, fmt.Errorf("find suppressions: %w", err)
	}

	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return nil, fmt.Errorf("find suppressions: %w", err)
	}

	found := make(map[string]bool, len(hashes))
	for _, h := range hashes {
		found[string(h)] = true
	}

	out := make([]bool, len(addresses))
	for i, k := range keys {
		for _, h := range append(k.Org, k.Platform...) {
			out[i] = out[i] || found[string(h)]
		}
	}

	return out, nil
}
