package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type acceptInvitationIn struct {
	Body struct {
		Token     string `json:"token" maxLength:"1000" doc:"Token of the link in the invitation mail; for one use"`
		FirstName string `json:"first_name,omitempty" required:"false" maxLength:"100"`
		LastName  string `json:"last_name,omitempty" required:"false" maxLength:"100"`
		Password  string `json:"password" doc:"A new one, or the password of the existing account"`
	}
}

// Descriptions implements wire.Describer.
func (acceptInvitationIn) Descriptions() map[string]string {
	return map[string]string{
		"first_name": "First name of a new user; ignored if the address has an account",
		"last_name":  "Last name of a new user; ignored if the address has an account",
	}
}

func (a *App) mountInvitations() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.accept_invitation",
		Method: http.MethodPost, Path: "/api/v1/auth/accept-invite", Need: httpx.Public, Tag: authTag,
		Title: "Join an org by invitation", Secret: true,
		Writes: []string{"user.joined"},
	}, a.acceptInvite)
}

// acceptInvite runs two transactions, because only the system role may write users and the org's row policies protect
// everything else. A crash between the two leaves a user without membership, who can join with the same link and
// password.
func (a *App) acceptInvite(ctx context.Context, in *acceptInvitationIn) (*tokenOut, error) {
	if err := checkNames(in.Body.FirstName, in.Body.LastName); err != nil {
		return nil, err
	}

	at, hash, ok := auth.ReadInvitation(in.Body.Token)
	if !ok {
		return nil, fault.New(fault.LinkExpired, "This invitation is no longer valid; ask for a new one.")
	}

	var (
		invitation id.ID
		email      string
	)
	err := a.DB.ReadTx(ctx, at, func(tx *postgres.Tx) (err error) {
		invitation, email, err = org.ReadInvitation(ctx, tx, hash)
		return err
	})
	if err != nil {
		return nil, err
	}

	user, err := a.invitedUser(ctx, in, at, invitation, email)
	if err != nil {
		return nil, err
	}

	s := &auth.Session{User: *user, Org: at, Device: httpx.DeviceOf(ctx)}
	ctx = withActor(ctx, user.ID)
	err = a.DB.Tx(ctx, at, func(tx *postgres.Tx) error {
		role, name, err := org.Accept(ctx, tx, hash, user.ID)
		if err != nil {
			return err
		}
		s.Role = auth.Role(role)
		s.OrgName = name
		return a.Auth.Begin(ctx, tx, s)
	})
	if err != nil {
		return nil, err
	}

	a.Auth.Forget(at, user.ID)
	a.Auth.Use(ctx, user.ID, at)

	return sessionResponse(ctx, s), nil
}

// invitedUser returns the user with the invitation's address. An existing user must send the account's password. A new
// user gets the invitation's id.
func (a *App) invitedUser(
	ctx context.Context,
	in *acceptInvitationIn,
	at, invitation id.ID,
	email string,
) (*auth.User, error) {
	known, err := a.Auth.Known(ctx, email)
	if err != nil {
		return nil, err
	}

	if !known {
		if err := auth.CheckPassword("password", in.Body.Password, email); err != nil {
			return nil, err
		}

		u := auth.User{ID: invitation, Email: email, FirstName: in.Body.FirstName, LastName: in.Body.LastName}
		hash, err := a.Auth.HashPassword(ctx, in.Body.Password)
		if err != nil {
			return nil, err
		}

		err = a.System.Tx(ctx, at, func(tx *postgres.Tx) error {
			auth.AddUser(tx, auth.NewUser{
				ID: u.ID, Email: u.Email, PasswordHash: hash, FirstName: u.FirstName, LastName: u.LastName,
				LastOrg: at, Verified: true,
			})
			return nil
		})
		if err == nil {
			return &u, nil
		}
		if !auth.EmailTaken(err) {
			return nil, err
		}
	}

	p, err := a.Auth.CheckPerson(ctx, email, in.Body.Password, httpx.ClientIP(ctx))
	if err != nil {
		return nil, err
	}

	return &p.User, nil
}
