package org

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// APIKey is an API key without its secret.
type APIKey struct {
	ID         id.ID      `json:"id" format:"uuid" doc:"ID of the API key, not the key itself"`
	Name       string     `json:"name" doc:"Name that the key was given"`
	Role       string     `json:"role" enum:"viewer,member,admin,owner" doc:"Rights of the key"`
	Hint       string     `json:"hint" doc:"The last four characters of the key, to recognize it"`
	CreatedBy  id.ID      `json:"created_by" format:"uuid" doc:"ID of the user who created the key"`
	CreatedAt  wire.Time  `json:"created_at" format:"date-time" doc:"When the key was created"`
	LastUsedAt *wire.Time `json:"last_used_at" format:"date-time"`
	Edit       int64      `json:"-"`
}

// Descriptions implements wire.Describer.
func (APIKey) Descriptions() map[string]string {
	return map[string]string{
		"last_used_at": "When the key was last used, to the minute; null: never",
	}
}

// errNoKey is the error for an unknown key and for another org's key.
var errNoKey = fault.New(fault.NotFound, "There is no such API key.")

// NewKey is the input of AddKey: the hash is stored, the hint shown.
type NewKey struct {
	Name, Role string
	Hash       []byte
	Hint       string
	CreatedBy  id.ID
}

// AddKey inserts a key of tx's org. Its creator must be a member until tx ends: a concurrent removal waits and then
// finds the key.
func AddKey(ctx context.Context, tx *postgres.Tx, n NewKey) (*APIKey, error) {
	if err := CheckName("name", n.Name); err != nil {
		return nil, err
	}
	if err := lockMember(ctx, tx, n.CreatedBy); err != nil {
		return nil, err
	}

	k := &APIKey{
		ID: id.New(), Name: n.Name, Role: n.Role, Hint: n.Hint, CreatedBy: n.CreatedBy, CreatedAt: wire.Now(),
		Edit: 1,
	}
	tx.Queue(`INSERT INTO api_key (org_id, id, name, role, hint, hash, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.Org(), k.ID, k.Name, k.Role, k.Hint, n.Hash, k.CreatedBy, k.CreatedAt)
	Audit(ctx, tx,
		Entry{
			Action: "api_key.created", Target: "api_key", ID: k.ID.String(),
			Detail: map[string]any{"name": k.Name, "role": k.Role},
		})

	return k, nil
}

// lockMember locks the membership of a user in tx's org until tx ends.
func lockMember(ctx context.Context, tx *postgres.Tx, user id.ID) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM member WHERE org_id = $1 AND user_id = $2 AND removed_at IS NULL FOR SHARE`,
		[]any{tx.Org(), user}, &one)
	if postgres.None(err) {
		return fault.New(fault.SessionEnded, "The maker of the key is no longer a member.")
	}
	if err != nil {
		return fmt.Errorf("read member: %w", err)
	}

	return nil
}

const keySQL = `SELECT id, name, role, hint, created_by, created_at, last_used_at, edit FROM api_key `

// Keys lists the live keys of tx's org, newest first, beginning after below; a zero below begins at the newest.
func Keys(ctx context.Context, tx *postgres.Tx, below id.ID, limit int) ([]APIKey, error) {
	rows, err := tx.Query(ctx,
		keySQL+`WHERE org_id = $1 AND revoked_at IS NULL AND ($2 OR id < $3) ORDER BY id DESC LIMIT $4`,
		tx.Org(), below.IsZero(), below, limit)
	if err != nil {
		return nil, fmt.Errorf("read api keys: %w", err)
	}

	keys, err := pgx.CollectRows(rows, scanKey)
	if err != nil {
		return nil, fmt.Errorf("read api keys: %w", err)
	}

	return keys, nil
}

// OneKey returns a live key of tx's org.
func OneKey(ctx context.Context, tx *postgres.Tx, key id.ID) (*APIKey, error) {
	rows, err := tx.Query(ctx, keySQL+`WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL`, tx.Org(), key)
	if err != nil {
		return nil, fmt.Errorf("read api key: %w", err)
	}

	k, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if postgres.None(err) {
		return nil, errNoKey
	}
	if err != nil {
		return nil, fmt.Errorf("read api key: %w", err)
	}

	return &k, nil
}

// RevokeKey revokes a key of tx's org permanently. For a revoked key it does nothing. It calls check with the locked
// row's edit.
func RevokeKey(ctx context.Context, tx *postgres.Tx, key id.ID, check func(edit int64) error) error {
	var (
		name, role string
		edit       int64
		over       bool
	)

	err := tx.QueryRow(ctx,
		`SELECT name, role, edit, revoked_at IS NOT NULL FROM api_key WHERE org_id = $1 AND id = $2 FOR UPDATE`,
		[]any{tx.Org(), key}, &name, &role, &edit, &over)
	switch {
	case postgres.None(err):
		return errNoKey
	case err != nil:
		return fmt.Errorf("read api key: %w", err)
	case over:
		return nil
	}

	if err := check(edit); err != nil {
		return err
	}

	tx.Queue(`UPDATE api_key SET revoked_at = now(), edit = edit + 1 WHERE org_id = $1 AND id = $2`, tx.Org(), key)
	Audit(ctx, tx,
		Entry{
			Action: "api_key.revoked", Target: "api_key", ID: key.String(),
			Detail: map[string]any{"name": name, "role": role},
		})

	return nil
}

// leaveKeys revokes or keeps the live keys of tx's org that a leaving member created, and writes an audit entry for
// each. It sets their number in detail.
func leaveKeys(ctx context.Context, tx *postgres.Tx, member id.ID, keep bool, detail map[string]any) error {
	rows, err := tx.Query(ctx,
		keySQL+`WHERE org_id = $1 AND created_by = $2 AND revoked_at IS NULL ORDER BY id FOR UPDATE`, tx.Org(), member)
	if err != nil {
		return fmt.Errorf("read api keys: %w", err)
	}

	keys, err := pgx.CollectRows(rows, scanKey)
	if err != nil {
		return fmt.Errorf("read api keys: %w", err)
	}

	action := "api_key.revoked"
	if keep {
		action = "api_key.kept"
		detail["api_keys_kept"] = len(keys)
	} else {
		detail["api_keys_revoked"] = len(keys)
		tx.Queue(`UPDATE api_key SET revoked_at = now(), edit = edit + 1 WHERE org_id = $1 AND created_by = $2
			AND revoked_at IS NULL`, tx.Org(), member)
	}

	for _, k := range keys {
		Audit(ctx, tx, Entry{Action: action, Target: "api_key", ID: k.ID.String(), Detail: map[string]any{
			"name": k.Name, "role": k.Role, "member_removed": member,
		}})
	}

	return nil
}

func scanKey(row pgx.CollectableRow) (k APIKey, err error) {
	err = row.Scan(&k.ID, &k.Name, &k.Role, &k.Hint, &k.CreatedBy, &k.CreatedAt, &k.LastUsedAt, &k.Edit)
	return k, err
}
