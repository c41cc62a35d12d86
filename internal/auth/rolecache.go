package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// roleKey identifies one session of a user in an org. For an agency's staff, session is the access to the client's org.
type roleKey struct{ org, user, session id.ID }

// roleCacheEntry is the rights of a principal, as read from the database at one moment. The first request that finds
// the entry expired reads it again while others wait, so a principal costs at most one look-up per roleLife, however
// many requests it makes.
type roleCacheEntry struct {
	mu  sync.Mutex
	who Who
	at  time.Time
	err error
}

// lookTime is the timeout of one look-up, since other requests wait for its result.
const lookTime = 2 * time.Second

// errEnded is the error for a genuine token whose session, membership or staff access has ended.
var errEnded = fault.New(fault.SessionEnded, "The session of this token has ended. Log in again.")

// cachedRole returns the rights of t's user in t's org and the request rate: the result's Role, RatePerMinute and
// Closed. It returns errEnded if the session has ended. now is when the request arrived; the result is at most roleLife
// older.
func (s *Service) cachedRole(ctx context.Context, t token, now time.Time) (Who, error) {
	entry := s.roles.GetOr(roleKey{t.org, t.user, t.session}, newRoleCacheEntry)
	entry.mu.Lock()
	defer entry.mu.Unlock()

	if now.Sub(entry.at) < roleLife {
		return entry.who, entry.err
	}

	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	began := time.Now()
	found, err := s.readRole(ctx, t)
	switch {
	case postgres.None(err):
		entry.who = Who{}
		entry.err = errEnded
		entry.at = began
	case err != nil:
		return Who{}, fmt.Errorf("read role: %w", err)
	default:
		entry.who = found
		entry.err = nil
		entry.at = began
	}

	return entry.who, entry.err
}

// roleSQL reads the role if the session is live, in one statement. It returns no row if either is gone.
const roleSQL = `SELECT m.role, coalesce(o.rate_per_minute, 0), ` + closedSQL + `
	FROM member m JOIN org o ON o.id = m.org_id
	WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL AND ` + liveSQL

// liveSQL reports whether the session $3 of user $2 in org $1 is live.
const liveSQL = `EXISTS (SELECT FROM refresh_token r
	WHERE r.org_id = $1 AND r.family = $3 AND r.user_id = $2 AND r.revoked_at IS NULL AND r.expires_at > now())`

// readRole reads the role from the database. It returns pgx.ErrNoRows if the session has ended. Look-ups of concurrent
// requests share a round trip.
func (s *Service) readRole(ctx context.Context, t token) (found Who, err error) {
	if !t.staff.IsZero() {
		err = s.App.ReadTx(ctx, t.org, func(tx *postgres.Tx) error { return readLentRole(ctx, tx, t, &found) })
		return found, err
	}

	err = s.App.BatchedGet(ctx, t.org, roleSQL, []any{t.org, t.user, t.session}, func(row pgx.CollectableRow) error {
		return row.Scan(&found.Role, &found.RatePerMinute, &found.Closed)
	})
	return found, err
}

func newRoleCacheEntry() *roleCacheEntry { return new(roleCacheEntry) }

// Forget drops the cached role of a user in org, so that this process reads it again at the next request. Other
// processes do so within roleLife. It must be called after the commit of the change.
func (s *Service) Forget(org, user id.ID) {
	s.roles.DropIf(func(k roleKey) bool { return k.org == org && k.user == user })
}

// forgetPerson is Forget for all orgs of a user.
func (s *Service) forgetPerson(user id.ID) {
	s.roles.DropIf(func(k roleKey) bool { return k.user == user })
}
