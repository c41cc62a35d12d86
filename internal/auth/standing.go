package auth

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Standing returns the current rights of a principal in tx's org, read from the database alone. It is for work that
// began under the principal's credential and continues without it. Exactly one of w's User and Key must be set. For a
// user with Staff, one live access to the org is enough. It returns fault.InvalidToken if the principal has no access
// any more.
func (s *Service) Standing(ctx context.Context, tx *postgres.Tx, w Who) (Who, error) {
	now := Who{Org: tx.Org(), User: w.User, Key: w.Key, Staff: w.Staff}
	var err error

	switch {
	case w.IsKey():
		err = tx.QueryRow(ctx,
			`SELECT k.role, coalesce(o.rate_per_minute, 0), `+closedSQL+` FROM api_key k JOIN org o ON o.id = k.org_id
			WHERE k.org_id = $1 AND k.id = $2 AND k.revoked_at IS NULL`, []any{tx.Org(), w.Key}, &now.Role,
			&now.RatePerMinute, &now.Closed)
	case !w.Staff.IsZero():
		err = readNewestLentRole(ctx, tx, w, &now)
	default:
		err = tx.QueryRow(ctx,
			`SELECT m.role, coalesce(o.rate_per_minute, 0), `+closedSQL+` FROM member m JOIN org o ON o.id = m.org_id
			WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL`, []any{tx.Org(), w.User}, &now.Role,
			&now.RatePerMinute, &now.Closed)
	}

	if postgres.None(err) {
		return Who{}, errToken
	}
	if err != nil {
		return Who{}, fmt.Errorf("read role: %w", err)
	}

	return now, nil
}

// readNewestLentRole is readLentRole for the newest live staff access to tx's org.
func readNewestLentRole(ctx context.Context, tx *postgres.Tx, w Who, now *Who) error {
	rows, err := tx.Query(ctx, `SELECT id FROM staff_access
		WHERE org_id = $1 AND user_id = $2 AND parent_org_id = $3 AND ended_at IS NULL AND expires_at > now()
		ORDER BY expires_at DESC, id DESC LIMIT 20`, tx.Org(), w.User, w.Staff)
	if err != nil {
		return err
	}

	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return err
	}

	for _, access := range all {
		err := readLentRole(ctx, tx, token{org: tx.Org(), user: w.User, session: access, staff: w.Staff}, now)
		if !postgres.None(err) {
			now.Session = access
			return err
		}
	}

	return pgx.ErrNoRows
}
