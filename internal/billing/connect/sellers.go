package connect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Seller is an org with sales that are in flight or active.
type Seller struct {
	Org     id.ID
	Account string // an account that we can access; "": none
	Begun   bool   // a sale has been in flight for longer than abandoned
}

// Sellers returns the orgs with sales that are in flight or active.
func (s *Service) Sellers(ctx context.Context) (all []Seller, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT s.org_id, coalesce(max(c.stripe_id) FILTER (WHERE c.state <> 'disconnected'), ''),
			bool_or(s.state = 'in_flight' AND s.created_at < $1)
			FROM connect_sale s JOIN connect_account c ON c.org_id = s.org_id
			WHERE s.state IN ('in_flight', 'active') GROUP BY s.org_id ORDER BY s.org_id`,
			s.Timestamp().Add(-abandoned))
		if err != nil {
			return err
		}

		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Seller])

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sellers: %w", err)
	}

	return all, nil
}
