package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

type forgotPasswordIn struct {
	Body struct {
		Email string `json:"email" minLength:"3" maxLength:"254"`
	}
}

// Descriptions implements wire.Describer.
func (forgotPasswordIn) Descriptions() map[string]string {
	return map[string]string{
		"email": "Address to which the reset link is mailed if it has an account; the response is always the " +
			"same",
	}
}

type resetPasswordIn struct {
	Body struct {
		Token    string `json:"token" maxLength:"1000" doc:"Token of the link in the reset mail; for one use"`
		Password string `json:"password" doc:"The new password: 8 to 128 characters, not a common password"`
	}
}

type changePasswordIn struct {
	Body struct {
		OldPassword string `json:"old_password" maxLength:"1000" doc:"The current password of the account"`
		NewPassword string `json:"new_password"`
	}
}

// Descriptions implements wire.Describer.
func (changePasswordIn) Descriptions() map[string]string {
	return map[string]string{ //nolint:gosec // texts, no credentials
		"new_password": "8 to 128 characters, not a common password; all other sessions end",
	}
}

type verifyEmailIn struct {
	Body struct {
		Token string `json:"token" maxLength:"1000" doc:"Token of the link in the confirmation mail"`
	}
}

func (a *App) mountPasswords() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.forgot_password",
		Method: http.MethodPost,
		Path:   "/api/v1/auth/forgot-password",
		Need:   httpx.Public,
		Part:   httpx.PartMail,
		Tag:    authTag,
		Title:  "Request a password reset link",
		Status: http.StatusAccepted,
		Writes: []string{mailsystem.Kind.Name()},
	}, a.requestReset)
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.reset_password",
		Method: http.MethodPost, Path: "/api/v1/auth/reset-password", Need: httpx.Public, Tag: authTag,
		Title:  "Set a new password with a mailed token",
		Status: http.StatusNoContent,
	}, a.resetPassword)
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.change_password",
		Method: http.MethodPost, Path: "/api/v1/auth/change-password", Need: httpx.Members(auth.Viewer), Tag: authTag,
		Title:  "Change your own password",
		Status: http.StatusNoContent, Open: true,
	}, a.changePassword)
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.verify_email",
		Method: http.MethodPost, Path: "/api/v1/auth/verify-email", Need: httpx.Public, Tag: authTag,
		Title:  "Confirm an email address with a mailed token",
		Status: http.StatusNoContent,
	}, a.verifyEmail)
}

// requestReset responds identically, after the same work, for known and unknown addresses. The statements are the same;
// for an unknown address they write no mail, and the job finds nothing to send.
func (a *App) requestReset(ctx context.Context, in *forgotPasswordIn) (*nothing, error) {
	if err := auth.CheckEmail("email", in.Body.Email); err != nil {
		return nil, err
	}
	if err := a.Auth.Allow(ctx, auth.ForgotLimit, httpx.ClientIP(ctx)); err != nil {
		return nil, err
	}
	if !a.Auth.MayMail(ctx, in.Body.Email, httpx.ClientIP(ctx)) {
		return &nothing{}, nil
	}

	err := a.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		token := auth.AddLink(tx, auth.ResetPassword, in.Body.Email)
		letter, err := mail.WriteToKnown(tx, a.Box, mail.Reset(auth.FoldEmail(in.Body.Email), a.PublicURL, token))
		if err != nil {
			return err
		}
		return mailsystem.Kind.Add(ctx, tx, mailsystem.Args{Mail: letter})
	})

	return &nothing{}, err
}

func (a *App) resetPassword(ctx context.Context, in *resetPasswordIn) (*nothing, error) {
	err := a.Auth.Reset(ctx, in.Body.Token, in.Body.Password, func(tx *postgres.Tx, user id.ID) error {
		org.AuditEverywhere(withActor(ctx, user), tx, user,
			org.Entry{Action: "user.password_reset", Target: "user", ID: user.String()})
		return nil
	})
	return &nothing{}, err
}

func (a *App) changePassword(ctx context.Context, in *changePasswordIn) (*nothing, error) {
	b := &in.Body
	err := a.Auth.ChangePassword(ctx, httpx.Who(ctx), b.OldPassword, b.NewPassword, httpx.ClientIP(ctx),
		func(tx *postgres.Tx, user id.ID) error {
			org.AuditEverywhere(ctx, tx, user,
				org.Entry{Action: "user.password_changed", Target: "user", ID: user.String()})
			return nil
		})
	return &nothing{}, err
}

func (a *App) verifyEmail(ctx context.Context, in *verifyEmailIn) (*nothing, error) {
	return &nothing{}, a.Auth.Confirm(ctx, in.Body.Token)
}
