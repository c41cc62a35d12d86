package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// place is a person in an org; staff of an agency has one for each access to a client's.
type place struct{ org, user, access id.ID }

// seat is what a principal may do, as the database said at a moment. Whoever finds it too old asks again while
// the others wait, so that a principal costs one query a second however many requests it makes.
type seat struct {
	mu  sync.Mutex
	who Who
	at  time.Time
	err error
}

// lookTime bounds one query for a role, since others wait for its answer.
const lookTime = 2 * time.Second

// role is what t's user may do in t's org now, and how often: the answer's Role, RatePerMinute and Closed.
func (s *Service) role(ctx context.Context, t token, now time.Time) (Who, error) {
	where := place{org: t.org, user: t.user}
	if !t.staff.IsZero() {
		where.access = t.session
	}
	at := s.seats.getOr(where, newSeat)
	at.mu.Lock()
	defer at.mu.Unlock()
	if now.Sub(at.at) < roleLife {
		return at.who, at.err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	began := time.Now()
	var found Who
	err := s.App.View(ctx, t.org, func(tx *postgres.Tx) error {
		if !t.staff.IsZero() {
			return lent(ctx, tx, t, &found)
		}
		return tx.QueryRow(ctx, `SELECT m.role, coalesce(o.rate_per_minute, 0), `+closedSQL+` FROM member m JOIN org o ON o.id = m.org_id
			WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL`,
			[]any{t.org, t.user}, &found.Role, &found.RatePerMinute, &found.Closed)
	})
	switch {
	case postgres.None(err):
		at.who, at.err, at.at = Who{}, errToken, began
	case err != nil:
		return Who{}, fmt.Errorf("read role: %w", err)
	default:
		at.who, at.err, at.at = found, nil, began
	}
	return at.who, at.err
}

func newSeat() *seat { return new(seat) }

// Forget makes this process ask for a person's role again at the next request. Other processes do so within a
// second. Call it after the commit of what changed the role.
func (s *Service) Forget(org, user id.ID) { s.seats.drop(place{org: org, user: user}) }
