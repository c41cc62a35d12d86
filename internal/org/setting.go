package org

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Setting decodes one of the org's settings into to. It returns false if the org does not have the setting.
func Setting(ctx context.Context, tx *postgres.Tx, key string, to any) (bool, error) {
	var raw []byte
	if err := tx.QueryRow(ctx, `SELECT settings -> $2 FROM org WHERE id = $1`, []any{tx.Org(), key}, &raw); err != nil {
		return false, fmt.Errorf("read setting %s: %w", key, err)
	}
	if raw == nil {
		return false, nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return false, fmt.Errorf("decode setting %s: %w", key, err)
	}

	return true, nil
}

// PutSetting queues a new value of one of the org's settings. Unlike Update it announces nothing: it is for the
// platform's own bookkeeping.
func PutSetting(tx *postgres.Tx, key string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode setting %s: %w", key, err)
	}
	tx.Queue(`UPDATE org SET settings = jsonb_set(settings, ARRAY[$2], $3::jsonb), edit = edit + 1 WHERE id = $1`,
		tx.Org(), key, string(b))
	return nil
}
