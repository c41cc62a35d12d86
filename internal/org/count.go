package org

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// CountMembers returns the total number of users and open invitations that Members lists.
func CountMembers(ctx context.Context, tx *postgres.Tx) (int64, error) {
	return countRows(ctx, tx, `
		SELECT (SELECT count(*) FROM member WHERE org_id = $1 AND removed_at IS NULL)
		     + (SELECT count(*) FROM invitation WHERE org_id = $1 AND closed_at IS NULL)`)
}

// CountKeys returns the total number of keys that Keys lists.
func CountKeys(ctx context.Context, tx *postgres.Tx) (int64, error) {
	return countRows(ctx, tx, `SELECT count(*) FROM api_key WHERE org_id = $1 AND revoked_at IS NULL`)
}

func countRows(ctx context.Context, tx *postgres.Tx, query string) (n int64, err error) {
	if err = tx.QueryRow(ctx, query, []any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}
