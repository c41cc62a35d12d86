package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// staffLife is how long staff may act in a client's org with one token, which cannot be refreshed.
const staffLife = accessLife

// Lend lets a user of an agency act in the client's org, which is tx's org, for a quarter of an hour, and returns the
// token. The role cannot be Owner. The token is valid once tx has committed, and while the session by is live, its user
// is an admin of the agency, and the org is the agency's client.
func (s *Service) Lend(ctx context.Context, tx *postgres.Tx, by Who, role Role) (token string, access id.ID,
	life time.Duration, err error,
) {
	if role == Owner || !role.Valid() {
		return "", access, 0, fault.Invalid("role", "not_lent", "Staff acts as a viewer, a member or an admin.")
	}

	access = id.New()
	tx.Queue(`INSERT INTO staff_access (org_id, id, user_id, parent_org_id, session_id, role, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
		tx.Org(), access, by.User, by.Org, by.Session, string(role), staffLife.Seconds())
	token, err = s.signAccess(ctx, Who{
		Org: tx.Org(), User: by.User, Role: role, Session: access, Staff: by.Org,
		Client: by.Client,
	}, time.Now())

	return token, access, staffLife, err
}

// readLentRole is readRole for an agency's staff: the granted role, while the granting user may still grant it. It
// returns no row if that has ended.
func readLentRole(ctx context.Context, tx *postgres.Tx, t token, found *Who) error {
	var session *id.ID // nil: granted by a version that did not store it
	err := tx.QueryRow(ctx, `SELECT a.role, coalesce(o.rate_per_minute, 0), `+closedSQL+`, a.session_id
		FROM staff_access a JOIN org o ON o.id = a.org_id
		WHERE a.org_id = $1 AND a.id = $2 AND a.user_id = $3 AND a.parent_org_id = $4 AND o.parent_org_id = $4
		  AND a.ended_at IS NULL AND a.expires_at > now()`,
		[]any{t.org, t.session, t.user, t.staff}, &found.Role, &found.RatePerMinute, &found.Closed, &session)
	if err != nil {
		return err
	}

	return tx.In(ctx, t.staff, func() error {
		var one int
		err := tx.QueryRow(ctx, `SELECT 1 FROM member WHERE org_id = $1 AND user_id = $2 AND removed_at IS NULL
			AND role IN ('admin', 'owner') AND ($3::uuid IS NULL OR `+liveSQL+`)
			AND EXISTS (SELECT FROM org o WHERE o.id = $1 AND o.suspended_at IS NULL)`, []any{t.staff, t.user, session},
			&one)
		if err != nil && !postgres.None(err) {
			return fmt.Errorf("read staff: %w", err)
		}

		return err
	})
}

// Withdraw ends all accesses of an agency to tx's org.
func Withdraw(tx *postgres.Tx, agency id.ID) {
	tx.Queue(`UPDATE staff_access SET ended_at = now() WHERE org_id = $1 AND parent_org_id = $2 AND ended_at IS NULL`,
		tx.Org(), agency)
}
