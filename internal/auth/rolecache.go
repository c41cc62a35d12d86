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

// roleKey names one session of a person in an org. For an agency's staff session is the access to the client's org.
type roleKey struct{ org, user, session id.ID }

// roleCacheEntry is what a principal may do, as read from the database at a moment. The request that finds it too old
// reads it again while the others wait, so that a principal costs at most one look-up per roleLife, however many
// requests it makes.
type roleCacheEntry struct {
	mu  sync.Mutex
	who Who
	at  time.Time
	err error
}

// lookTime bounds one look-up, since other requests wait for its result.
const lookTime = 2 * time.Second

// errEnded is the error of a genuine token whose session, membership or staff access is over.
var errEnded = fault.New(fault.SessionEnded, "The session of this token has ended. Log in again.")

// role returns what t's user may do in t's org, and how often: the result's Role, RatePerMinute and Closed.
// It returns errEnded if the session has ended. now is when the request arrived: the result is what the database
// held at most roleLife before.
func (s *Service) role(ctx context.Context, t token, now time.Time) (Who, error) {
	entry := s.roles.getOr(roleKey{t.org, t.user, t.session}, newRoleCacheEntry)
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
		entry.who, entry.err, entry.at = Who{}, errEnded, began
	case err != nil:
		return Who{}, fmt.Errorf("read role: %w", err)
	default:
		entry.who, entry.err, entry.at = found, nil, began
	}
	return entry.who, entry.err
}

// roleSQL reads the role and whether the session lives in one statement: no row if either is gone.
const roleSQL = `SELECT m.role, coalesce(o.rate_per_minute, 0), ` + closedSQL + `
	FROM member m JOIN org o ON o.id = m.org_id
	WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL AND ` + liveSQL

// liveSQL reports whether the session $3 of user $2 in org $1 goes on.
const liveSQL = `EXISTS (SELECT FROM refresh_token r
	WHERE r.org_id = $1 AND r.family = $3 AND r.user_id = $2 AND r.revoked_at IS NULL AND r.expires_at > now())`

// readRole returns pgx.ErrNoRows if the session has ended. The look-ups of concurrent requests share a round trip.
func (s *Service) readRole(ctx context.Context, t token) (found Who, err error) {
	if !t.staff.IsZero() {
		err = s.App.View(ctx, t.org, func(tx *postgres.Tx) error { return lent(ctx, tx, t, &found) })
		return found, err
	}
	err = s.App.Point(ctx, t.org, roleSQL, []any{t.org, t.user, t.session}, func(row pgx.CollectableRow) error {
		return row.Scan(&found.Role, &found.RatePerMinute, &found.Closed)
	})
	return found, err
}

func newRoleCacheEntry() *roleCacheEntry { return new(roleCacheEntry) }

// Forget makes this process read a person's role in org again at the next request. Other processes do so within
// roleLife. Call it after the commit of what changed the role.
func (s *Service) Forget(org, user id.ID) {
	s.roles.dropIf(func(k roleKey) bool { return k.org == org && k.user == user })
}

// forgetPerson is Forget for all orgs of a person.
func (s *Service) forgetPerson(user id.ID) {
	s.roles.dropIf(func(k roleKey) bool { return k.user == user })
}
