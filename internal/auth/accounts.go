package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ErrNoUser means that no user has the address.
var ErrNoUser = errors.New("no user has this address")

// Account is a user as operators see it.
type Account struct {
	User
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at"` // nil unless the user may not log in
	Orgs       []Joined   `json:"orgs"`        // by the time of joining
}

// Joined is an org of an Account.
type Joined struct {
	ID   id.ID  `json:"id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
}

// Accounts lists the users whose address or name contains search, by address: at most limit. It reads all users.
func (s *Service) Accounts(ctx context.Context, search string, limit int) (all []Account, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT u.id, u.email, u.first_name, u.last_name, u.created_at, u.disabled_at,
			       coalesce((SELECT json_agg(json_build_object('id', o.id, 'name', o.name, 'role', m.role)
			               ORDER BY m.created_at, o.id)
			           FROM member m JOIN org o ON o.id = m.org_id
			           WHERE m.user_id = u.id AND m.removed_at IS NULL), '[]')
			FROM app_user u
			WHERE position($1 IN u.email_folded) > 0
			   OR position($1 IN lower(u.first_name || ' ' || u.last_name)) > 0
			ORDER BY u.email_folded LIMIT $2`, FoldEmail(search), limit)
		if err != nil {
			return err
		}

		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Account, err error) {
			err = row.Scan(&a.ID, &a.Email, &a.FirstName, &a.LastName, &a.CreatedAt, &a.DisabledAt, &a.Orgs)
			return a, err
		})

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}

	return all, nil
}

// SetPassword replaces the password of the user with this address without the old one, and ends all sessions of the
// user. The operator may choose any password. It calls written in the transaction, which runs as System, and returns
// ErrNoUser if there is no such user.
func (s *Service) SetPassword(
	ctx context.Context, email, password string, written func(*postgres.Tx, id.ID) error,
) error {
	hash, err := s.HashPassword(ctx, password)
	if err != nil {
		return err
	}

	return s.changeAccount(ctx, email, written, func(tx *postgres.Tx, user id.ID) {
		tx.Queue(`UPDATE app_user SET password_hash = $2 WHERE id = $1`, user, hash)
	})
}

// Disable keeps the user with this address from logging in until Enable, and ends all sessions of the user, each within
// a second. Memberships and API keys stay. It calls written in the transaction, which runs as System, and returns
// ErrNoUser if there is no such user.
func (s *Service) Disable(ctx context.Context, email string, written func(*postgres.Tx, id.ID) error) error {
	return s.changeAccount(ctx, email, written, func(tx *postgres.Tx, user id.ID) {
		tx.Queue(`UPDATE app_user SET disabled_at = coalesce(disabled_at, now()) WHERE id = $1`, user)
	})
}

// Enable lets a disabled user log in again. It calls written as Disable does.
func (s *Service) Enable(ctx context.Context, email string, written func(*postgres.Tx, id.ID) error) error {
	return s.changeAccount(ctx, email, written, func(tx *postgres.Tx, user id.ID) {
		tx.Queue(`UPDATE app_user SET disabled_at = NULL WHERE id = $1`, user)
	})
}

// changeAccount runs change for the user with this address and ends the user's sessions.
func (s *Service) changeAccount(ctx context.Context, email string, written func(*postgres.Tx, id.ID) error,
	change func(*postgres.Tx, id.ID),
) error {
	var user id.ID
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id FROM app_user WHERE email_folded = $1 FOR UPDATE`,
			[]any{FoldEmail(email)}, &user)
		if postgres.None(err) {
			return ErrNoUser
		}
		if err != nil {
			return err
		}

		change(tx, user)
		endOthers(tx, user, id.ID{})

		return written(tx, user)
	})
	if errors.Is(err, ErrNoUser) {
		return ErrNoUser
	}
	if err != nil {
		return fmt.Errorf("change user: %w", err)
	}

	s.forgetPerson(user)

	return nil
}
