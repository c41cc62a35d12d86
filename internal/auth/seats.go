package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// place is a person in an org.
type place struct{ org, user id.ID }

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

// role is what t's user may do in t's org now.
func (s *Service) role(ctx context.Context, t token, now time.Time) (Role, error) {
	where := place{t.org, t.user}
	at := s.seats.getOr(where, newSeat)
	at.mu.Lock()
	defer at.mu.Unlock()
	if now.Sub(at.at) < roleLife {
		return at.who.Role, at.err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	began := time.Now()
	var role Role
	err := s.App.View(ctx, t.org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT role FROM member WHERE org_id = $1 AND user_id = $2 AND removed_at IS NULL`,
			[]any{t.org, t.user}, &role)
	})
	switch {
	case postgres.None(err):
		at.who.Role, at.err, at.at = "", errToken, began
	case err != nil:
		return "", fmt.Errorf("read role: %w", err)
	default:
		at.who.Role, at.err, at.at = role, nil, began
	}
	return at.who.Role, at.err
}

func newSeat() *seat { return new(seat) }

// Forget makes this process ask for a person's role again at the next request. Other processes do so within a
// second. Call it after the commit of what changed the role.
func (s *Service) Forget(org, user id.ID) { s.seats.drop(place{org, user}) }
