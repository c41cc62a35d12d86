package auth

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// retireTime is how long a session continues after the browser has replaced its refresh token by another session's: as
// long as its last access token may be valid. Other tabs of the browser may be using that token, and a browser that
// lost the response still has the old refresh token.
const retireTime = accessLife

// SwitchConsole is Switch for the holder of a console session's refresh token. The token is not used up, but its
// session ends after a quarter of an hour, since the browser replaces it. A token that was used before ends its family,
// as in Refresh.
func (s *Service) SwitchConsole(ctx context.Context, text string, org id.ID, by Device,
	reused func(*postgres.Tx, id.ID) error,
) (*Session, error) {
	who, err := s.sessionHolder(ctx, text, reused)
	if err != nil {
		return nil, err
	}
	return s.switchTo(ctx, who, org, by, true)
}

// sessionHolder returns the user and the session of a console session's refresh token.
func (s *Service) sessionHolder(ctx context.Context, text string, reused func(*postgres.Tx, id.ID) error) (Who, error) {
	org, ok := orgOf(refreshPrefix, text)
	if !ok {
		return Who{}, errRefresh
	}

	var who Who
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		row, err := lockRefresh(ctx, tx, digestOf(text), Console)
		switch {
		case postgres.None(err) || err == nil && !row.live:
			return nil
		case err != nil:
			return err
		case row.used != nil && (!row.grace || row.successor == nil):
			endFamily(tx, row.family)
			return reused(tx, row.user)
		}

		who = Who{Org: org, User: row.user, Session: row.family, Client: Console}

		return nil
	})
	if err != nil {
		return Who{}, fmt.Errorf("read session: %w", err)
	}
	if who.Org.IsZero() {
		return Who{}, errRefresh
	}

	return who, nil
}

// RetireConsole lets the console session of a refresh token end after a quarter of an hour. It is for a token that the
// browser has replaced by another session's. An invalid token is no error.
func (s *Service) RetireConsole(ctx context.Context, text string) error {
	org, ok := orgOf(refreshPrefix, text)
	if !ok {
		return nil
	}

	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		row, err := lockRefresh(ctx, tx, digestOf(text), Console)
		if postgres.None(err) {
			return nil
		}
		if err == nil && row.live {
			retireSession(tx, org, row.family)
		}

		return err
	})
	if err != nil {
		return fmt.Errorf("retire session: %w", err)
	}

	return nil
}

// retireSession lets a session end after retireTime. The caller must hold the lock of its user.
func retireSession(tx *postgres.Tx, org, family id.ID) {
	tx.Queue(`UPDATE refresh_token SET expires_at = least(expires_at, now() + make_interval(secs => $3))
		WHERE org_id = $1 AND family = $2 AND revoked_at IS NULL`, org, family, retireTime.Seconds())
}

// errConsoleToken refuses to hand a refresh token to the console's scripts.
var errConsoleToken = fault.New(fault.Forbidden,
	"A console session has its refresh token in a cookie. Switch with POST /api/v1/auth/console/switch.")
