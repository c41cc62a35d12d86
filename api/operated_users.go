package api

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// SetPassword replaces the password of the user with this address and ends the user's sessions, as an operator may. The
// audit log of each of the user's orgs says so. It returns auth.ErrNoUser if there is no such user.
func SetPassword(ctx context.Context, a *auth.Service, email, password string) error {
	if password == "" {
		return errors.New("a password is required")
	}
	return a.SetPassword(ctx, email, password, auditUser(ctx, "user.password_set"))
}

// DisableUser keeps the user with this address from logging in, and ends the user's sessions.
func DisableUser(ctx context.Context, a *auth.Service, email string) error {
	return a.Disable(ctx, email, auditUser(ctx, "user.disabled"))
}

// EnableUser ends what DisableUser has begun.
func EnableUser(ctx context.Context, a *auth.Service, email string) error {
	return a.Enable(ctx, email, auditUser(ctx, "user.enabled"))
}

// auditUser returns the entry of an operator's action on a user, for all of the user's orgs.
func auditUser(ctx context.Context, action string) func(*postgres.Tx, id.ID) error {
	return func(tx *postgres.Tx, user id.ID) error {
		org.AuditEverywhere(ctx, tx, user, org.Entry{Action: action, Target: "user", ID: user.String()})
		return nil
	}
}
