package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// SeedUser is a user created by the operator, without signup and without mail.
type SeedUser struct {
	Email, Password     string
	FirstName, LastName string
	Org                 id.ID     // org to join; if zero, a new org is created
	OrgName             string    // name of the new org, which the user owns
	Role                auth.Role // role in Org
	TrialDays           int       // of a new org; 0 means no end
}

// Admit creates the user and, if requested, the org. It returns false and changes nothing if a user with that address
// exists. It never resets a password.
func Admit(ctx context.Context, a *auth.Service, n SeedUser) (bool, error) {
	if known, err := a.Known(ctx, n.Email); known || err != nil {
		return false, err
	}

	err := auth.CheckEmail("email", n.Email)
	if err == nil && n.Org.IsZero() {
		err = org.CheckName("org", n.OrgName)
	}
	if err == nil {
		err = checkNames(n.FirstName, n.LastName)
	}
	if err != nil {
		return false, Plainly(err)
	}
	if n.Password == "" { // the operator may choose any password
		return false, errors.New("a password is required")
	}

	hash, err := a.HashPassword(ctx, n.Password)
	if err != nil {
		return false, err
	}

	home := n.Org
	user := id.New()
	if home.IsZero() {
		home = id.New()
	}

	err = a.System.Tx(ctx, home, func(tx *postgres.Tx) error {
		if !n.Org.IsZero() {
			var there bool
			if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM org WHERE id = $1)", []any{home},
				&there); err != nil {
				return err
			}
			if !there {
				return fmt.Errorf("there is no org %s", home)
			}
		}

		auth.AddUser(tx,
			auth.NewUser{
				ID: user, Email: n.Email, PasswordHash: hash, FirstName: n.FirstName, LastName: n.LastName,
				LastOrg: home, Verified: true,
			})
		if n.Org.IsZero() {
			org.Create(tx, n.OrgName, user)
			plans.Begin(tx, n.TrialDays)
			return nil
		}

		tx.Queue("INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, $3)", home, user, string(n.Role))
		org.Audit(ctx, tx, org.Entry{
			Action: "member.added", Target: "member", ID: user.String(),
			Detail: map[string]any{"email": n.Email, "role": n.Role},
		})

		return nil
	})
	if auth.EmailTaken(err) { // by a concurrent process
		return false, nil
	}

	return err == nil, err
}

// Plainly converts a fault's field errors to an error for a command line.
func Plainly(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	return fmt.Errorf("%s: %s", f.Fields[0].Pointer, f.Fields[0].Detail)
}
