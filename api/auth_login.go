package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

const (
	authTag  = "Sign in"
	authPath = httpx.AuthPrefix
)

// tokens is the response body of every operation that begins or continues a session.
type sessionTokens struct {
	AccessToken  string    `json:"access_token"`
	TokenType    string    `json:"token_type" enum:"Bearer" doc:"Scheme of the Authorization header"`
	ExpiresIn    int       `json:"expires_in" doc:"Seconds until the access token expires"`
	RefreshToken string    `json:"refresh_token" doc:"For one use; a refresh returns the next one"`
	User         auth.User `json:"user" doc:"The user who logged in"`
	Org          orgName   `json:"org" doc:"The organization in which the tokens act"`
	Role         auth.Role `json:"role" enum:"viewer,member,admin,owner" doc:"The user's role in that organization"`
}

// Descriptions implements wire.Describer.
func (sessionTokens) Descriptions() map[string]string {
	return map[string]string{ //nolint:gosec // texts, no credentials
		"access_token": "JWT (EdDSA) to send as Authorization: Bearer; valid for expires_in seconds",
	}
}

type orgName = auth.OrgName

type tokenOut struct {
	Location string `header:"Location" doc:"On 201: address of the new organization"`
	Body     sessionTokens
}

// nothing is the output of an operation without a response body.
type nothing struct{}

func sessionResponse(ctx context.Context, s *auth.Session) *tokenOut {
	httpx.RequestOf(ctx).Org = s.Org
	return &tokenOut{Body: sessionTokens{
		AccessToken: s.AccessToken, TokenType: "Bearer", ExpiresIn: int(s.ExpiresIn.Seconds()),
		RefreshToken: s.RefreshToken,
		User:         s.User, Org: orgName{ID: s.Org, Name: s.OrgName}, Role: s.Role,
	}}
}

// withActor returns ctx with user as the actor. It is for public routes, on which the request's body proves the
// caller's identity.
func withActor(ctx context.Context, user id.ID) context.Context {
	return events.WithOrigin(ctx,
		events.Origin{ActorType: "user", ActorID: user.String(), RequestID: httpx.RequestOf(ctx).ID})
}

// enqueueMail enqueues a system mail in tx. On an install without mail it only logs.
func (a *App) enqueueMail(ctx context.Context, tx *postgres.Tx, m mail.Message) error {
	if !a.HasPart(httpx.PartMail) {
		a.Log.InfoContext(ctx, "mail not sent: mail is not configured", "operation",
			httpx.RequestOf(ctx).Op.ID)
		return nil
	}
	letter, err := mail.Write(tx, a.Box, m)
	if err != nil {
		return err
	}
	return mailsystem.Kind.Add(ctx, tx, mailsystem.Args{Mail: letter})
}

type signupIn struct {
	Body struct {
		OrgName   string `json:"org_name" minLength:"1" maxLength:"200" doc:"Name of the new organization"`
		Email     string `json:"email" minLength:"3" maxLength:"254"`
		Password  string `json:"password" doc:"8 to 128 characters, not a common password"`
		FirstName string `json:"first_name,omitempty" required:"false" maxLength:"100"`
		LastName  string `json:"last_name,omitempty" required:"false" maxLength:"100"`
	}
}

// Descriptions implements wire.Describer.
func (signupIn) Descriptions() map[string]string {
	return map[string]string{
		"email":      "Address of the owner, compared case-folded; a confirmation link is mailed to it",
		"first_name": "First name of the owner; default: empty",
		"last_name":  "Last name of the owner; default: empty",
	}
}

type loginIn struct {
	Body loginRequest
}

type loginRequest struct {
	Email    string  `json:"email" maxLength:"1000" doc:"Address of the account, compared case-folded"`
	Password string  `json:"password" maxLength:"1000" doc:"Password of the account"`
	OrgID    *string `json:"org_id,omitempty" format:"uuid" doc:"The org to log in to; the last used one if absent"`
}

type refreshTokenIn struct {
	Body struct {
		RefreshToken string `json:"refresh_token" maxLength:"1000"`
	}
}

// Descriptions implements wire.Describer.
func (refreshTokenIn) Descriptions() map[string]string {
	return map[string]string{ //nolint:gosec // texts, no credentials
		"refresh_token": "The latest refresh token of the session, as the last token response returned it",
	}
}

func (a *App) mountLogin() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.signup",
		Method: http.MethodPost, Path: "/api/v1/auth/signup", Need: httpx.Public, Tag: authTag,
		Title: "Create an org and its owner", Secret: true,
		Status: http.StatusCreated, Writes: []string{mailsystem.Kind.Name()},
	}, a.signUp)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "auth.login",
			Method: http.MethodPost, Path: "/api/v1/auth/login", Need: httpx.Public, Tag: authTag, Title: "Log in",
			Secret: true,
		}, a.logIn)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "auth.refresh",
			Method: http.MethodPost, Path: "/api/v1/auth/refresh", Need: httpx.Public, Tag: authTag,
			Title: "Exchange a refresh token for new tokens", Secret: true,
		}, a.refreshSession)
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.logout",
		Method: http.MethodPost, Path: "/api/v1/auth/logout", Need: httpx.Public, Tag: authTag,
		Title:  "End the session of a refresh token",
		Status: http.StatusNoContent,
	}, a.logOut)
}

func (a *App) signUp(ctx context.Context, in *signupIn) (*tokenOut, error) {
	if a.SignupOff {
		return nil, fault.New(fault.SignupClosed, "Signup is disabled. Ask for an invitation.")
	}

	b := &in.Body
	u := auth.User{ID: id.New(), Email: strings.TrimSpace(b.Email), FirstName: b.FirstName, LastName: b.LastName}
	if err := org.CheckName("org_name", b.OrgName); err != nil {
		return nil, err
	}
	if err := auth.CheckEmail("email", u.Email); err != nil {
		return nil, err
	}
	if err := checkNames(b.FirstName, b.LastName); err != nil {
		return nil, err
	}
	if err := auth.CheckPassword("password", b.Password, u.Email); err != nil {
		return nil, err
	}
	if err := a.checkEmailFree(ctx, u.Email); err != nil {
		return nil, err
	}

	hash, err := a.Auth.HashPassword(ctx, b.Password)
	if err != nil {
		return nil, err
	}

	s := &auth.Session{User: u, Org: id.New(), OrgName: b.OrgName, Role: auth.Owner, Device: httpx.DeviceOf(ctx)}
	ctx = httpx.WithOrg(withActor(ctx, u.ID), s.Org)
	err = a.System.Tx(ctx, s.Org, func(tx *postgres.Tx) error {
		auth.AddUser(tx,
			auth.NewUser{
				ID: u.ID, Email: u.Email, PasswordHash: hash, FirstName: u.FirstName, LastName: u.LastName,
				LastOrg: s.Org,
			})
		org.Create(tx, b.OrgName, u.ID)
		plans.Begin(tx, a.TrialDays)
		org.Audit(ctx, tx,
			org.Entry{
				Action: "organization.created", Target: "organization", ID: s.Org.String(),
				Detail: map[string]any{"owner": u.ID},
			})
		token := auth.AddLink(tx, auth.VerifyEmail, u.Email)
		if err := a.enqueueMail(ctx, tx, mail.Verify(u.Email, a.PublicURL, token)); err != nil {
			return err
		}

		return a.Auth.Begin(ctx, tx, s)
	})
	if auth.EmailTaken(err) { // by a concurrent signup
		return nil, a.emailTakenFault(ctx)
	}
	if err != nil {
		return nil, err
	}

	a.computeNewLimits(ctx, s.Org)
	out := sessionResponse(ctx, s)
	out.Location = "/api/v1/org"

	return out, nil
}

// checkNames validates a person's names. Both may be empty.
func checkNames(first, last string) error {
	if err := auth.CheckPersonName("first_name", first); err != nil {
		return err
	}
	return auth.CheckPersonName("last_name", last)
}

// checkEmailFree returns an error if an account with the address exists. It runs before the password is hashed.
func (a *App) checkEmailFree(ctx context.Context, email string) error {
	known, err := a.Auth.Known(ctx, email)
	if err != nil || !known {
		return err
	}
	return a.emailTakenFault(ctx)
}

// emailTakenFault returns the error for an address that has an account. It is rate limited by the caller's IP address,
// since it discloses which accounts exist.
func (a *App) emailTakenFault(ctx context.Context) error {
	if err := a.Auth.Allow(ctx, auth.TakenLimit, httpx.ClientIP(ctx)); err != nil {
		return err
	}
	return fault.New(fault.EmailTaken,
		"An account with this email address exists already. Log in, or reset the password.")
}

// computeNewLimits computes a new org's limits immediately. A failure is only logged, since the sweep computes them
// within a minute.
func (a *App) computeNewLimits(ctx context.Context, org id.ID) {
	err := a.DB.Tx(ctx, org, func(tx *postgres.Tx) error { return a.Plans.Settle(ctx, tx) })
	if err != nil {
		a.Log.WarnContext(ctx, "computing the limits of a new org failed", "error", err)
	}
}

func (a *App) logIn(ctx context.Context, in *loginIn) (*tokenOut, error) {
	c, err := readCredentials(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	s, err := a.Auth.Login(ctx, c)
	if err != nil {
		return nil, err
	}
	return sessionResponse(ctx, s), nil
}

func readCredentials(ctx context.Context, in *loginRequest) (auth.Credentials, error) {
	by := httpx.DeviceOf(ctx)
	c := auth.Credentials{Email: in.Email, Password: in.Password, IP: by.IP, UserAgent: by.UserAgent}
	if in.OrgID != nil {
		asked, err := id.Parse(*in.OrgID)
		if err != nil {
			return c, fault.Invalid("org_id", "invalid_format", "Want a UUID.")
		}
		c.Org = &asked
	}
	return c, nil
}

func (a *App) refreshSession(ctx context.Context, in *refreshTokenIn) (*tokenOut, error) {
	s, err := a.Auth.Refresh(ctx, in.Body.RefreshToken, auth.AnyClient, httpx.DeviceOf(ctx), auditReuse(ctx))
	if err != nil {
		return nil, err
	}
	return sessionResponse(ctx, s), nil
}

// auditReuse returns a function that adds the audit log entry of a session that ends because its refresh token was
// reused.
func auditReuse(ctx context.Context) func(*postgres.Tx, id.ID) error {
	return func(tx *postgres.Tx, user id.ID) error {
		httpx.RequestOf(ctx).Org = tx.Org()
		org.Audit(ctx, tx, org.Entry{Action: "session.reuse_detected", Target: "user", ID: user.String()})
		return nil
	}
}

func (a *App) logOut(ctx context.Context, in *refreshTokenIn) (*nothing, error) {
	return &nothing{}, a.Auth.Logout(ctx, in.Body.RefreshToken)
}
