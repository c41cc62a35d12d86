package sync

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

func (s *Service) readPosition(ctx context.Context, name string) (at string, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT position FROM billing_sync WHERE name = $1`, []any{name}, &at)
	})
	if postgres.None(err) {
		return "", nil
	}
	return at, err
}

func (s *Service) writePosition(ctx context.Context, name, at string) error {
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO billing_sync (name, position) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
			SET position = excluded.position, updated_at = now()`, name, at)
		return nil
	})
}
