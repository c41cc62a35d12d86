package org

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// View is a JSON value that a user stores in an org under a key, such as a saved list or a preference.
type View struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// MaxViews is the maximum number of views of one user in one org.
const MaxViews = 200

// Views returns at most limit views of a user in byte order of their keys, starting after the key after.
func Views(ctx context.Context, tx *postgres.Tx, user id.ID, after string, limit int) ([]View, error) {
	rows, err := tx.Query(ctx, `SELECT key, value FROM user_view
		WHERE org_id = $1 AND user_id = $2 AND key > $3 ORDER BY key LIMIT $4`, tx.Org(), user, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[View])
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}

	return all, nil
}

// PutView stores a view, in place of a previous one with its key. A view beyond MaxViews is a conflict fault.
func PutView(ctx context.Context, tx *postgres.Tx, user id.ID, v View) error {
	// Concurrent requests of one user that add views wait for each other, so that each counts the others' views.
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('user_view/' || $1::text || $2::text, 0))`,
		tx.Org().String(), user.String())
	n, err := tx.Exec(ctx, `INSERT INTO user_view (org_id, user_id, key, value, updated_at)
		SELECT $1, $2, $3, $4, now()
		WHERE (SELECT count(*) FROM user_view WHERE org_id = $1 AND user_id = $2 AND key <> $3) < $5
		ON CONFLICT (org_id, user_id, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
		tx.Org(), user, v.Key, string(v.Value), MaxViews)
	if err != nil {
		return fmt.Errorf("write view: %w", err)
	}
	if n == 0 {
		return fault.Newf(fault.Conflict, "A user has at most %d views in an organization.", MaxViews)
	}

	return nil
}

// DropView removes a view. It does nothing if there is no such view.
func DropView(tx *postgres.Tx, user id.ID, key string) {
	tx.Queue(`DELETE FROM user_view WHERE org_id = $1 AND user_id = $2 AND key = $3`, tx.Org(), user, key)
}
