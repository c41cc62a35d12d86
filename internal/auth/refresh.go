package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// errRefresh is the same error for every invalid refresh token.
var errRefresh = fault.New(fault.InvalidToken, "The refresh token is not valid.")

// refreshRow is a refresh token as stored.
type refreshRow struct {
	id, family, user id.ID
	used             *time.Time
	successor        []byte
	live             bool // neither expired nor revoked
	expires          time.Time
	grace            bool // used so recently that the response may have been lost
}

// Refresh exchanges a refresh token for a new one and an access token. Each token is valid once. A second use ends its
// family (fault.InvalidToken), because one of the two users stole it. For ten seconds the immediate predecessor of an
// unused token gets that same token again, since a response can be lost.
//
// Refresh calls reused with the family's user in the transaction that ends a family.
//
// The session shows by as its device from now on. The token of a session of another client is invalid, and its use
// changes nothing.
func (s *Service) Refresh(ctx context.Context, text string, client Client, by Device,
	reused func(*postgres.Tx, id.ID) error,
) (*Session, error) {
	org, ok := orgOf(refreshPrefix, text)
	if !ok {
		return nil, s.refusedRefresh("unknown")
	}

	sum := digestOf(text)
	var (
		out     *Session
		row     refreshRow
		verdict = "unknown"
	)

	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
		row, err = lockRefresh(ctx, tx, sum, client)
		if postgres.None(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !row.live {
			verdict = "over"
			return nil
		}

		next, err := s.nextToken(ctx, tx, row, by)
		if err != nil {
			return err
		}
		if next == "" {
			verdict = "reused"
			endFamily(tx, row.family)
			return reused(tx, row.user)
		}

		verdict = "accepted"
		out, err = s.readRenewed(ctx, tx, row, next, client)
		if out == nil && err == nil {
			verdict = "removed"
		}

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("refresh session: %w", err)
	}
	if out == nil {
		if row.live {
			s.roles.Drop(roleKey{org, row.user, row.family})
		}
		if verdict == "reused" {
			s.Log.WarnContext(ctx, "refresh token reused, token family revoked", "org_id", org.String())
		}
		return nil, s.refusedRefresh(verdict)
	}

	s.Metrics.refreshes.WithLabelValues(verdict).Inc()

	return out, nil
}

func (s *Service) refusedRefresh(result string) error {
	s.Metrics.refreshes.WithLabelValues(result).Inc()
	return errRefresh
}

// endFamily ends a session of tx's org. The caller must hold the lock of its user.
func endFamily(tx *postgres.Tx, family id.ID) {
	tx.Queue(`UPDATE refresh_token SET revoked_at = now(), successor = NULL
		WHERE org_id = $1 AND family = $2 AND revoked_at IS NULL`, tx.Org(), family)
}

// lockRefresh reads the row of a client's token and locks out every other transaction that begins, continues or ends
// sessions of its user.
func lockRefresh(ctx context.Context, tx *postgres.Tx, sum digest, client Client) (r refreshRow, err error) {
	lockOwner(tx, sum)
	err = tx.QueryRow(ctx, `
		SELECT id, family, user_id, used_at, successor, revoked_at IS NULL AND expires_at > clock_timestamp(),
		       coalesce(used_at > clock_timestamp() - make_interval(secs => $3), false), expires_at
		FROM refresh_token WHERE org_id = $1 AND hash = $2 AND client = $4 FOR UPDATE`,
		[]any{tx.Org(), sum[:], graceTime.Seconds(), string(client)}, &r.id, &r.family, &r.user, &r.used,
		&r.successor, &r.live, &r.grace, &r.expires)
	return r, err
}

// nextToken returns the token after row: a new one for an unused row, the same one within the grace period, "" for a
// reuse.
func (s *Service) nextToken(ctx context.Context, tx *postgres.Tx, row refreshRow, by Device) (string, error) {
	about := "refresh_token/" + tx.Org().String() + "/" + row.id.String()
	if row.used == nil {
		text, hash := newOpaque(refreshPrefix, tx.Org())
		sealed, err := s.Box.Seal([]byte(text), about)
		if err != nil {
			return "", err
		}

		// The token before this one loses its grace period: only the immediate predecessor has one.
		tx.Queue(
			`UPDATE refresh_token SET successor = NULL WHERE org_id = $1 AND family = $2 AND successor IS NOT NULL`,
			tx.Org(), row.family)
		tx.Queue(`UPDATE refresh_token SET used_at = clock_timestamp(), successor = $3 WHERE org_id = $1 AND id = $2`,
			tx.Org(), row.id, sealed)
		tx.Queue(`
			INSERT INTO refresh_token (org_id, id, family, user_id, hash, expires_at, ip, user_agent, client)
			SELECT org_id, $3, family, user_id, $4, expires_at, $5, $6, client FROM refresh_token WHERE org_id = $1
			AND id = $2`,
			tx.Org(), row.id, id.New(), hash, by.ipText(), by.agentLine())
		return text, tx.Flush(ctx)
	}
	if !row.grace || row.successor == nil {
		return "", nil
	}

	text, err := s.Box.Open(row.successor, about)

	return string(text), err
}

// readRenewed returns the renewed session, or nil if its user was removed, which ends the family.
func (s *Service) readRenewed(ctx context.Context, tx *postgres.Tx, row refreshRow, next string,
	client Client,
) (*Session, error) {
	out := &Session{Org: tx.Org(), RefreshToken: next, RefreshUntil: row.expires, Client: client}
	err := tx.QueryRow(ctx, `
		SELECT u.id, u.email, u.first_name, u.last_name, o.name, m.role
		FROM member m JOIN app_user u ON u.id = m.user_id JOIN org o ON o.id = m.org_id
		WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL`,
		[]any{tx.Org(), row.user}, &out.User.ID, &out.User.Email, &out.User.FirstName, &out.User.LastName,
		&out.OrgName, &out.Role)
	if postgres.None(err) {
		endFamily(tx, row.family)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	return out, s.signSession(ctx, out, row.family)
}

// Logout ends the session of a refresh token, and with it its access tokens. An invalid token is no error: its holder
// is logged out already.
func (s *Service) Logout(ctx context.Context, text string) error {
	org, ok := orgOf(refreshPrefix, text)
	if !ok {
		return nil
	}

	sum := digestOf(text)
	key := roleKey{org: org}
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		lockOwner(tx, sum)
		err := tx.QueryRow(ctx, `SELECT user_id, family FROM refresh_token WHERE org_id = $1 AND hash = $2`,
			[]any{org, sum[:]}, &key.user, &key.session)
		if postgres.None(err) {
			return nil
		}

		endFamily(tx, key.session)
		return err
	})
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}

	s.roles.Drop(key)

	return nil
}

// EndSessions ends all of a member's sessions in tx's org. The caller must call Forget after the commit.
func EndSessions(tx *postgres.Tx, user id.ID) {
	lockPerson(tx, user)
	tx.Queue(`UPDATE refresh_token SET revoked_at = now(), successor = NULL
		WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL`, tx.Org(), user)
}
