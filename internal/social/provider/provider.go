package provider

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Bounds of the methods.
const (
	// CallTime is what one request may take, from dialling to the last byte. Refresh is one request.
	CallTime = 15 * time.Second
	// LoginTime is what Login may take, all its requests together.
	LoginTime = 30 * time.Second
	// MaxAccounts is how many accounts of one login are listed.
	MaxAccounts = 1000
)

// App is the application that the operator registered with a family of providers.
type App struct {
	ClientID     string
	ClientSecret Secret
	// DeveloperToken is Google Ads' own.
	DeveloperToken Secret
	// Configs are Facebook Login for Business's configurations, by platform: one names what is asked for in the place of
	// scopes.
	Configs map[string]string
	// Version is asked for in the place of Spec.Version, where it is not "".
	Version string
	// Base, where it is not "", takes the place of the scheme of every address, the host becoming the first part of
	// the path: https://graph.facebook.com/me is asked for at Base + "/graph.facebook.com/me".
	Base string
	// HTTP carries the requests; nil: that of Options.
	HTTP *http.Client
}

// Provider is a Spec with an App: everything there is to do with one platform. It is safe for concurrent use.
type Provider struct {
	Spec
	app  App
	http *http.Client
	now  func() time.Time
}

// Format writes the platform's name under every verb: fmt would show the secrets of the App, since it cannot ask a Secret
// in an unexported field to hide.
func (p *Provider) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.Platform) }

// LogValue is the platform's name.
func (p *Provider) LogValue() slog.Value { return slog.StringValue(p.Platform) }

// ClientID is the application's. External ids and tokens are worth something within it alone.
func (p *Provider) ClientID() string { return p.app.ClientID }

// Sandboxed tells that the addresses lead somewhere else than to the provider.
func (p *Provider) Sandboxed() bool { return p.app.Base != "" }

// NewVerifier answers a PKCE verifier of 256 bits. A flow has one whether the provider takes it or not.
func NewVerifier() Secret { return Secret(oauth2.GenerateVerifier()) }

// AuthorizeURL is where the person's browser goes. state is at least 128 random bits, callbackURL is where it comes back
// to, with state and a code.
func (p *Provider) AuthorizeURL(state string, verifier Secret, callbackURL string) string {
	config := oauth2.Config{ClientID: p.app.ClientID, RedirectURL: callbackURL, Endpoint: oauth2.Endpoint{AuthURL: p.at(p.AuthURL)}}
	var options []oauth2.AuthCodeOption
	set := func(key, value string) { options = append(options, oauth2.SetAuthURLParam(key, value)) }
	if config := p.app.Configs[p.Platform]; config != "" {
		set("config_id", config)
	} else if len(p.Scopes) > 0 {
		set("scope", strings.Join(p.Scopes, p.separator()))
	}
	switch {
	case verifier == "" || p.PKCE == NoPKCE:
	case p.PKCE == S256Hex:
		hash := sha256.Sum256([]byte(verifier.Reveal()))
		set("code_challenge", hex.EncodeToString(hash[:]))
		set("code_challenge_method", "S256")
	default:
		options = append(options, oauth2.S256ChallengeOption(verifier.Reveal()))
	}
	for key, values := range p.AuthParams {
		set(key, strings.Join(values, p.separator()))
	}
	return renamed(config.AuthCodeURL(state, options...), "client_id", p.clientParam())
}

// Returned reads the query of the callback. Its error is ErrDenied where the person said no, else an *Error.
func (p *Provider) Returned(query url.Values) (Secret, error) {
	if got := query.Get(p.codeParam()); got != "" && query.Get("error") == "" {
		return Secret(got), nil
	}
	reason := query.Get("error")
	if reason == "access_denied" || reason == "user_cancelled_login" || reason == "user_cancelled_authorize" || query.Get("error_reason") == "user_denied" {
		return "", ErrDenied
	}
	e := &Error{Class: Dead, Platform: p.Platform, Code: code(reason)}
	switch reason {
	case "":
		e.Code = "no_code"
	case "server_error", "temporarily_unavailable":
		e.Class = Transient
	case "unauthorized_client", "invalid_request", "invalid_scope", "unsupported_response_type", "unauthorized_scope_error":
		e.Class = Misconfigured
	}
	return "", e
}

// Exchange turns the code of a callback into a token. The code is spent by it, whatever comes back.
func (p *Provider) Exchange(ctx context.Context, code, verifier Secret, callbackURL string) (Token, error) {
	c := Code{Code: code, Verifier: verifier, CallbackURL: callbackURL}
	if p.Dialect.Exchange != nil {
		return p.Dialect.Exchange(ctx, p, c)
	}
	return standardExchange(ctx, p, c)
}

// CanRefresh tells whether Refresh has something to work with. What cannot be renewed ends at ExpiresAt.
func (p *Provider) CanRefresh(t Token) bool {
	switch p.Renewal {
	case ByRefreshToken:
		return t.Refresh != ""
	case ByExchange, ByExtension:
		return t.Access != ""
	default:
		return false
	}
}

// Refresh answers the successor of t, in one request. The refresh token of t is kept where the answer has none. No
// earlier than t.IssuedAt + MinAge.
func (p *Provider) Refresh(ctx context.Context, t Token) (Token, error) {
	if !p.CanRefresh(t) {
		return Token{}, ErrNoRefresh
	}
	renew := p.Dialect.Refresh
	if renew == nil {
		renew = standardRefresh
	}
	fresh, err := renew(ctx, p, t)
	if err != nil {
		return Token{}, err
	}
	if len(fresh.Scopes) == 0 {
		fresh.Scopes = t.Scopes
	}
	return fresh.KeepRefreshOf(t), nil
}

// Login answers who t belongs to and which accounts it reaches, those of p's platform alone. It reads only; ask it
// after the token is safely kept.
func (p *Provider) Login(ctx context.Context, t Token) (Login, []Account, error) {
	ctx, cancel := context.WithTimeout(ctx, LoginTime)
	defer cancel()
	who, accounts, err := p.Dialect.Login(ctx, p, t)
	if err != nil {
		return Login{}, nil, err
	}
	if len(accounts) > MaxAccounts {
		accounts, who.Cut = accounts[:MaxAccounts], true
	}
	return who, accounts, nil
}

// Revoke ends t at the provider. A token that it no longer knows is revoked already. ErrNoRevoke where there is no
// way to. See RevokesSiblings before you ask.
func (p *Provider) Revoke(ctx context.Context, t Token) error {
	switch {
	case p.Dialect.Revoke != nil:
		return p.Dialect.Revoke(ctx, p, t)
	case p.RevokeURL != "":
		return standardRevoke(ctx, p, t)
	default:
		return ErrNoRevoke
	}
}

// Revocable tells whether Revoke has a way.
func (p *Provider) Revocable() bool { return p.Dialect.Revoke != nil || p.RevokeURL != "" }

// version is the version of the API that is asked.
func (p *Provider) version() string { return cmp.Or(p.app.Version, p.Version) }

// at is an address of the provider as it is asked for: see App.Version and App.Base.
func (p *Provider) at(address string) string {
	if p.Version != "" {
		address = strings.Replace(address, "/"+p.Version+"/", "/"+p.version()+"/", 1)
	}
	if p.app.Base == "" {
		return address
	}
	return strings.TrimSuffix(p.app.Base, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
}

func (p *Provider) separator() string   { return cmp.Or(p.ScopeSeparator, " ") }
func (p *Provider) clientParam() string { return cmp.Or(p.ClientParam, "client_id") }
func (p *Provider) codeParam() string   { return cmp.Or(p.CodeParam, "code") }

// renamed answers address with one parameter of its query under another name.
func renamed(address, from, to string) string {
	u, err := url.Parse(address)
	if err != nil || from == to {
		return address
	}
	q := u.Query()
	q[to] = q[from]
	q.Del(from)
	u.RawQuery = q.Encode()
	return u.String()
}
