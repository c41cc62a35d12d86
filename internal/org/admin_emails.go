package org

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// maxKeepers is the maximum number of recipients of one notice.
const maxKeepers = 50

// AdminEmails returns the mail addresses of the owners and admins of tx's org, owners first.
func AdminEmails(ctx context.Context, tx *postgres.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `
		SELECT u.email FROM member m JOIN app_user u ON u.id = m.user_id
		WHERE m.org_id = $1 AND m.removed_at IS NULL AND m.role IN ('owner', 'admin')
		ORDER BY m.role = 'admin', m.created_at, m.user_id LIMIT $2`, tx.Org(), maxKeepers)
	if err != nil {
		return nil, fmt.Errorf("read owners and admins: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read owners and admins: %w", err)
	}

	return all, nil
}
