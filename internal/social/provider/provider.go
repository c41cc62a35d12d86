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

// Limits of the methods.
const (
	// CallTime is the timeout of one request, from dialling to the last byte. Refresh is one request.
	CallTime = 15 * time.Second
	// LoginTime is the timeout of Login, for all its requests together.
	LoginTime = 30 * time.Second
	// MaxAccounts is the largest number of accounts that is listed for one login.
	MaxAccounts = 1000
)

// App is the application that the operator registered with a family of providers.
type App struct {
	ClientID     string
	ClientSecret Secret
	// DeveloperToken is needed by Google Ads only.
	DeveloperToken Secret
	// Configs holds the configurations of Facebook Login for Business, by platform. A configuration replaces the
	// scopes.
	Configs map[string]string
	// Version overrides Spec.Version unless it is "".
	Version string
	// Base, unless it is "", replaces the scheme of every address, and the host becomes the first segment of the path:
	// https://graph.facebook.com/me is requested at Base + "/graph.facebook.com/me".
	Base string
	// HTTP sends the requests; nil means Options.HTTP.
	HTTP *http.Client
}

// Provider is a Spec with an App: the client of one platform. It is safe for concurrent use.
type Provider struct {
	Spec
	app  App
	http *http.Client
	now  func() time.Time
}

// Format writes the platform's name under every verb. Otherwise fmt would show the secrets of the App, since it cannot
// call the methods of a Secret in an unexported field.
func (p *Provider) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.Platform) }

// LogValue returns the platform's name.
func (p *Provider) LogValue() slog.Value { return slog.StringValue(p.Platform) }

// ClientID returns the application's client id. External ids and tokens are valid only within it.
func (p *Provider) ClientID() string { return p.app.ClientID }

// Sandboxed reports whether requests go to another host than the provider's.
func (p *Provider) Sandboxed() bool { return p.app.Base != "" }

// NewVerifier returns a PKCE verifier of 256 bits. Each flow has one, even if the provider does not use it.
func NewVerifier() Secret { return Secret(oauth2.GenerateVerifier()) }

// AuthorizeURL returns the address for the person's browser. state has at least 128 random bits, verifier is the result
// of Begin, and callbackURL is the address to which the browser returns, with state and a code.
func (p *Provider) AuthorizeURL(state string, verifier Secret, callbackURL string) string {
	if p.AsksFirst() {
		token, _ := credentials(verifier)
		return p.at(p.AuthURL) + "?" + url.Values{"oauth_token": {token}}.Encode()
	}
	config := oauth2.Config{
		ClientID: p.app.ClientID, RedirectURL: callbackURL,
		Endpoint: oauth2.Endpoint{AuthURL: p.at(p.AuthURL)},
	}
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

// Returned reads the query of the callback. Its error is ErrDenied if the person did not consent, and otherwise an
// *Error.
func (p *Provider) Returned(query url.Values) (Secret, error) {
	if p.AsksFirst() && query.Get("denied") != "" {
		return "", ErrDenied
	}
	if got := query.Get(p.codeParam()); got != "" && query.Get("error") == "" {
		return Secret(got), nil
	}
	reason := query.Get("error")
	if reason == "access_denied" || reason == "user_cancelled_login" || reason == "user_cancelled_authorize" ||
		query.Get("error_reason") == "user_denied" {
		return "", ErrDenied
	}
	e := &Error{Class: Dead, Platform: p.Platform, Code: code(reason)}
	switch reason {
	case "":
		e.Code = "no_code"
	case "server_error", "temporarily_unavailable":
		e.Class = Transient
	case "unauthorized_client", "invalid_request", "invalid_scope", "unsupported_response_type",
		"unauthorized_scope_error":
		e.Class = Misconfigured
	}
	return "", e
}

// Exchange exchanges the code of a callback for a token. It spends the code, whatever the result.
func (p *Provider) Exchange(ctx context.Context, code, verifier Secret, callbackURL string) (Token, error) {
	c := Code{Code: code, Verifier: verifier, CallbackURL: callbackURL}
	if p.Dialect.Exchange != nil {
		return p.Dialect.Exchange(ctx, p, c)
	}
	return standardExchange(ctx, p, c)
}

// CanRefresh reports whether t can be renewed. A token that cannot be renewed ends at ExpiresAt.
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

// Refresh returns the successor of t, in one request. It keeps t's refresh token if the response has none. It must not
// be called before t.IssuedAt + MinAge.
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

// Login returns the owner of t and the accounts of p's platform that t reaches. It only reads; call it after the token
// is stored. Beside an error it returns the granted scopes if the provider has stated them.
func (p *Provider) Login(ctx context.Context, t Token) (Login, []Account, error) {
	ctx, cancel := context.WithTimeout(ctx, LoginTime)
	defer cancel()
	who, accounts, err := p.Dialect.Login(ctx, p, t)
	if err != nil {
		return Login{Scopes: who.Scopes}, nil, err
	}
	if len(accounts) > MaxAccounts {
		accounts, who.Cut = accounts[:MaxAccounts], true
	}
	return who, accounts, nil
}

// Revoke revokes t at the provider. A token that the provider no longer knows counts as revoked. Revoke returns
// ErrNoRevoke if the provider has no revocation. See RevokesSiblings before calling it.
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

// Revocable reports whether the provider supports revocation.
func (p *Provider) Revocable() bool { return p.Dialect.Revoke != nil || p.RevokeURL != "" }

// version returns the API version to request.
func (p *Provider) version() string { return cmp.Or(p.app.Version, p.Version) }

// at returns the address to request for an address of the provider: see App.Version and App.Base.
func (p *Provider) at(address string) string {
	address = p.versioned(address)
	if p.app.Base == "" {
		return address
	}
	return strings.TrimSuffix(p.app.Base, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(address, "https://"),
		"http://")
}

// versioned returns an address of the provider with the API version to request.
func (p *Provider) versioned(address string) string {
	if p.Version == "" {
		return address
	}
	return strings.Replace(address, "/"+p.Version+"/", "/"+p.version()+"/", 1)
}

func (p *Provider) separator() string   { return cmp.Or(p.ScopeSeparator, " ") }
func (p *Provider) clientParam() string { return cmp.Or(p.ClientParam, "client_id") }
func (p *Provider) codeParam() string   { return cmp.Or(p.CodeParam, "code") }

// renamed returns address with the query parameter from renamed to to.
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
