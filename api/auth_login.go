package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/systemmail"
)

const (
	authTag  = "Auth"
	authPath = "/api/v1/auth/"
)

// tokens is the answer of whatever begins or continues a session.
type tokens struct {
	AccessToken  string    `json:"access_token"`
	TokenType    string    `json:"token_type" enum:"Bearer"`
	ExpiresIn    int       `json:"expires_in" doc:"Seconds until the access token ends"`
	RefreshToken string    `json:"refresh_token" doc:"For one use; the answer to it brings the next one"`
	User         auth.User `json:"user"`
	Org          orgName   `json:"org"`
	Role         auth.Role `json:"role" enum:"viewer,member,admin,owner"`
}

type orgName = auth.OrgName

type tokenOut struct {
	Location string `header:"Location"`
	Body     tokens
}

// nothing is the answer of an operation that has none.
type nothing struct{}

func answer(s *auth.Session) *tokenOut {
	return &tokenOut{Body: tokens{
		AccessToken: s.AccessToken, TokenType: "Bearer", ExpiresIn: int(s.ExpiresIn.Seconds()), RefreshToken: s.RefreshToken,
		User: s.User, Org: orgName{ID: s.Org, Name: s.OrgName}, Role: s.Role,
	}}
}

// as is ctx with user as the one who acts, for routes whose caller proves who they are by what they send.
func as(ctx context.Context, user id.ID) context.Context {
	return events.WithOrigin(ctx, events.Origin{ActorType: "user", ActorID: user.String(), RequestID: requestOf(ctx).id})
}

// post asks for a system mail in tx. An install without mail makes neither mail nor job, and logs so.
func (a *App) post(ctx context.Context, tx *postgres.Tx, m mail.Message) error {
	if !a.has(PartMail) {
		a.Log.InfoContext(ctx, "a mail was not written: mail is not configured", "operation", operationID(*requestOf(ctx).op))
		return nil
	}
	letter, err := mail.Write(tx, a.Box, m)
	if err != nil {
		return err
	}
	return systemmail.Kind.Add(ctx, tx, systemmail.Args{Mail: letter})
}

type signupIn struct {
	Body struct {
		OrgName   string `json:"org_name" minLength:"1" maxLength:"200"`
		Email     string `json:"email" minLength:"3" maxLength:"254"`
		Password  string `json:"password" doc:"8 to 128 characters, not among the most common ones"`
		FirstName string `json:"first_name,omitempty" required:"false" maxLength:"100"`
		LastName  string `json:"last_name,omitempty" required:"false" maxLength:"100"`
	}
}

type loginIn struct {
	Body struct {
		Email    string  `json:"email" maxLength:"1000"`
		Password string  `json:"password" maxLength:"1000"`
		OrgID    *string `json:"org_id,omitempty" required:"false" format:"uuid" doc:"The org to land in; else the one last used"`
	}
}

type refreshIn struct {
	Body struct {
		RefreshToken string `json:"refresh_token" maxLength:"1000"`
	}
}

func (a *App) mountLogin() {
	route(a, op{
		Method: http.MethodPost, Path: "/api/v1/auth/signup", Need: public, Tag: authTag, Title: "Create an org and its owner", Secret: true,
		Status: http.StatusCreated, Writes: []string{systemmail.Kind.Name()},
	}, a.signup)
	route(a, op{Method: http.MethodPost, Path: "/api/v1/auth/login", Need: public, Tag: authTag, Title: "Log in", Secret: true}, a.login)
	route(a, op{Method: http.MethodPost, Path: "/api/v1/auth/refresh", Need: public, Tag: authTag, Title: "Trade a refresh token for new tokens", Secret: true}, a.refresh)
	route(a, op{
		Method: http.MethodPost, Path: "/api/v1/auth/logout", Need: public, Tag: authTag, Title: "End the session of a refresh token",
		Status: http.StatusNoContent,
	}, a.logout)
}

func (a *App) signup(ctx context.Context, in *signupIn) (*tokenOut, error) {
	if a.SignupOff {
		return nil, fault.New(fault.SignupClosed, "Signing up is switched off. Ask for an invitation.")
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
	if err := a.untaken(ctx, u.Email); err != nil {
		return nil, err
	}
	hash, err := a.Auth.HashPassword(ctx, b.Password)
	if err != nil {
		return nil, err
	}
	s := &auth.Session{User: u, Org: id.New(), OrgName: b.OrgName, Role: auth.Owner, Device: device(ctx)}
	ctx = as(ctx, u.ID)
	err = a.System.Tx(ctx, s.Org, func(tx *postgres.Tx) error {
		auth.AddUser(tx, auth.NewUser{ID: u.ID, Email: u.Email, PasswordHash: hash, FirstName: u.FirstName, LastName: u.LastName, LastOrg: s.Org})
		org.Create(tx, b.OrgName, u.ID)
		plans.Begin(tx, a.TrialDays)
		org.Audit(ctx, tx, org.Entry{Action: "organization.created", Target: "organization", ID: s.Org.String(), Detail: map[string]any{"owner": u.ID}})
		token := auth.AddLink(tx, auth.VerifyEmail, u.Email)
		if err := a.post(ctx, tx, mail.Verify(u.Email, a.PublicURL, token)); err != nil {
			return err
		}
		return a.Auth.Begin(ctx, tx, s)
	})
	if auth.EmailTaken(err) { // by another signup at the same moment
		return nil, a.taken(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.settle(ctx, s.Org)
	out := answer(s)
	out.Location = "/api/v1/org"
	return out, nil
}

// checkNames holds a person's names to their rules; both may be empty.
func checkNames(first, last string) error {
	if err := auth.CheckPersonName("first_name", first); err != nil {
		return err
	}
	return auth.CheckPersonName("last_name", last)
}

// untaken refuses the address of somebody who has an account, before a password is hashed for it.
func (a *App) untaken(ctx context.Context, email string) error {
	known, err := a.Auth.Known(ctx, email)
	if err != nil || !known {
		return err
	}
	return a.taken(ctx)
}

// taken is the refusal of a taken address; it is counted by the caller's address, since it tells who has an account.
func (a *App) taken(ctx context.Context) error {
	if err := a.Auth.Allow(ctx, auth.TakenLimit, clientIP(ctx)); err != nil {
		return err
	}
	return fault.New(fault.EmailTaken, "This mail address has an account already. Log in, or reset the password.")
}

// settle gives a new org its limits at once. Failing is no reason to refuse the org: the sweep does it within a minute.
func (a *App) settle(ctx context.Context, org id.ID) {
	err := a.DB.Tx(ctx, org, func(tx *postgres.Tx) error { return a.Plans.Settle(ctx, tx) })
	if err != nil {
		a.Log.WarnContext(ctx, "new org not settled", "org", org.String(), "error", err)
	}
}

func (a *App) login(ctx context.Context, in *loginIn) (*tokenOut, error) {
	by := device(ctx)
	c := auth.Credentials{Email: in.Body.Email, Password: in.Body.Password, IP: by.IP, UserAgent: by.UserAgent}
	if in.Body.OrgID != nil {
		asked, err := id.Parse(*in.Body.OrgID)
		if err != nil {
			return nil, fault.Invalid("org_id", "invalid_format", "Want a UUID.")
		}
		c.Org = &asked
	}
	s, err := a.Auth.Login(ctx, c)
	if err != nil {
		return nil, err
	}
	return answer(s), nil
}

func (a *App) refresh(ctx context.Context, in *refreshIn) (*tokenOut, error) {
	s, err := a.Auth.Refresh(ctx, in.Body.RefreshToken, device(ctx), func(tx *postgres.Tx, user id.ID) error {
		org.Audit(ctx, tx, org.Entry{Action: "session.reuse_detected", Target: "user", ID: user.String()})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(s), nil
}

func (a *App) logout(ctx context.Context, in *refreshIn) (*nothing, error) {
	return &nothing{}, a.Auth.Logout(ctx, in.Body.RefreshToken)
}
