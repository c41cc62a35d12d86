package auth

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// FirstOwned returns the first org that a user owns, by the time of joining; zero if there is none.
func (s *Service) FirstOwned(ctx context.Context, email string) (org id.ID, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		err := tx.QueryRow(ctx, `SELECT m.org_id FROM app_user u JOIN member m ON m.user_id = u.id
			WHERE u.email_folded = $1 AND m.role = 'owner' AND m.removed_at IS NULL
			ORDER BY m.created_at, m.org_id LIMIT 1`, []any{FoldEmail(email)}, &org)
		if postgres.None(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return org, fmt.Errorf("find org of user: %w", err)
	}

	return org, nil
}
