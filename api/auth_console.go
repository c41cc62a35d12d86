package api

import (
	"context"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// The console's sign-in. Its refresh token is in a cookie that scripts cannot read and that these four operations alone
// honour. Since no other operation reads a cookie, no other operation needs protection from forged requests (CSRF).
const (
	consolePath   = httpx.AuthPrefix + "console"
	consoleCookie = "funnelwork_console"
)

// consoleTokens is tokens without the refresh token, which the cookie holds.
type consoleTokens struct {
	AccessToken string    `json:"access_token" doc:"Its claim client is console. Keep it in memory only"`
	TokenType   string    `json:"token_type" enum:"Bearer" doc:"Always Bearer"`
	ExpiresIn   int       `json:"expires_in" doc:"Seconds until the access token expires"`
	User        auth.User `json:"user" doc:"The user who is signed in"`
	Org         orgName   `json:"org" doc:"The organization of the session"`
	Role        auth.Role `json:"role" enum:"viewer,member,admin,owner" doc:"The user's role in the organization"`
}

type consoleOut struct {
	Cookie string `header:"Set-Cookie" doc:"The refresh token for these operations, HttpOnly and SameSite=Strict"`
	Body   consoleTokens
}

type consoleEndOut struct {
	Cookie string `header:"Set-Cookie" doc:"Deletes the cookie"`
}

type consoleLoginIn struct {
	Cookies string `header:"Cookie" hidden:"true"`
	Body    loginRequest
}

type consoleIn struct {
	Cookies string `header:"Cookie" hidden:"true"`
}

type consoleSwitchIn struct {
	Cookies string `header:"Cookie" hidden:"true"`
	Body    switchOrgRequest
}

func (a *App) mountConsoleLogin() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "console.login",
		Method: http.MethodPost, Path: consolePath + "/login", Need: httpx.Public, Tag: authTag,
		Title: "Sign in to the console", Secret: true, Console: true,
	}, a.consoleLogin)
	httpx.Route(a.Server, httpx.Op{
		ID:     "console.refresh",
		Method: http.MethodPost, Path: consolePath + "/refresh", Need: httpx.Public, Tag: authTag,
		Title: "Exchange the console's cookie for new tokens", Secret: true, Console: true,
	}, a.consoleRefresh)
	httpx.Route(a.Server, httpx.Op{
		ID:     "console.logout",
		Method: http.MethodPost, Path: consolePath + "/logout", Need: httpx.Public, Tag: authTag,
		Title: "Sign out of the console", Status: http.StatusNoContent, Console: true,
	}, a.consoleLogout)
	httpx.Route(a.Server, httpx.Op{
		ID:     "console.switch_org",
		Method: http.MethodPost, Path: consolePath + "/switch", Need: httpx.Public, Tag: authTag,
		Title: "Switch the console to another of your organizations", Secret: true, Console: true,
	}, a.consoleSwitch)
}

func (a *App) consoleLogin(ctx context.Context, in *consoleLoginIn) (*consoleOut, error) {
	c, err := readCredentials(ctx, &in.Body)
	if err != nil {
		return nil, err
	}

	c.Client = auth.Console
	if c.Home, err = a.Tenant(ctx); err != nil {
		return nil, err
	}

	s, err := a.Auth.Login(ctx, c)
	if err != nil {
		return nil, err
	}
	if old := consoleToken(in.Cookies); old != "" {
		if err := a.Auth.RetireConsole(ctx, old); err != nil {
			a.Log.WarnContext(ctx, "retiring a replaced session failed", "error", err)
		}
	}

	return consoleAnswer(ctx, s), nil
}

func (a *App) consoleRefresh(ctx context.Context, in *consoleIn) (*consoleOut, error) {
	s, err := a.Auth.Refresh(ctx, consoleToken(in.Cookies), auth.Console, httpx.DeviceOf(ctx), auditReuse(ctx))
	if err != nil {
		return nil, err
	}
	return consoleAnswer(ctx, s), nil
}

func (a *App) consoleLogout(ctx context.Context, in *consoleIn) (*consoleEndOut, error) {
	if err := a.Auth.Logout(ctx, consoleToken(in.Cookies)); err != nil {
		return nil, err
	}
	return &consoleEndOut{setConsoleCookie(ctx, "", time.Time{})}, nil
}

func (a *App) consoleSwitch(ctx context.Context, in *consoleSwitchIn) (*consoleOut, error) {
	at, err := id.Parse(in.Body.OrgID)
	if err != nil {
		return nil, fault.Invalid("org_id", "invalid_format", "Want a UUID.")
	}
	s, err := a.Auth.SwitchConsole(ctx, consoleToken(in.Cookies), at, httpx.DeviceOf(ctx), auditReuse(ctx))
	if err != nil {
		return nil, err
	}
	return consoleAnswer(ctx, s), nil
}

func consoleAnswer(ctx context.Context, s *auth.Session) *consoleOut {
	all := sessionResponse(ctx, s).Body
	return &consoleOut{
		Cookie: setConsoleCookie(ctx, s.RefreshToken, s.RefreshUntil),
		Body: consoleTokens{
			AccessToken: all.AccessToken, TokenType: all.TokenType, ExpiresIn: all.ExpiresIn, User: all.User,
			Org: all.Org, Role: all.Role,
		},
	}
}

// consoleToken returns the refresh token in a request's cookies, or "". Only one cookie of the name can be ours:
// another one comes from a page of a neighbouring host, which might sign a person in to a stranger's account.
func consoleToken(header string) string {
	parser := http.Request{Header: http.Header{"Cookie": {header}}} // it ignores malformed cookies of other pages
	ours := parser.CookiesNamed(consoleCookie)
	if len(ours) != 1 {
		return ""
	}
	return ours[0].Value
}

// setConsoleCookie returns a Set-Cookie header that lets the browser keep token until then, or deletes the cookie if
// token is empty. The cookie has no Domain, so that it belongs to the host alone that was asked.
func setConsoleCookie(ctx context.Context, token string, until time.Time) string {
	c := &http.Cookie{ //nolint:gosec // Secure where browsers use https; over http a browser would drop it
		Name: consoleCookie, Value: token, Path: consolePath, MaxAge: int(time.Until(until).Seconds()),
		Secure: httpx.HTTPS(ctx), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if c.MaxAge <= 0 {
		c.MaxAge = -1
	}
	return c.String()
}
