package provider

import (
	"context"
	"net/url"
	"time"
)

// Kind distinguishes the two kinds of connections.
type Kind string

// The kinds.
const (
	Social Kind = "social"
	Ads    Kind = "ads"
)

// Renewal is the way in which an access token is renewed.
type Renewal string

// The renewals.
const (
	// NoRenewal: the token either never expires or cannot be renewed.
	NoRenewal Renewal = "none"
	// ByExchange: a valid access token is exchanged for another (Facebook).
	ByExchange Renewal = "exchange"
	// ByExtension: a valid access token is extended (Instagram).
	ByExtension Renewal = "extend"
	// ByRefreshToken: RFC 6749, section 6.
	ByRefreshToken Renewal = "refresh_token"
)

// ClientAuth is where the client's id and secret are sent. It is fixed for each provider: trying the other way after a
// refusal would be a second request.
type ClientAuth string

// The client authentication methods.
const (
	InBody  ClientAuth = "body"
	InBasic ClientAuth = "basic"
)

// Challenge is the PKCE method that derives the challenge in the authorize URL from the verifier.
type Challenge string

// The challenge methods.
const (
	NoPKCE  Challenge = ""
	S256    Challenge = "S256"     // RFC 7636
	S256Hex Challenge = "S256-hex" // TikTok's own: the hash in hexadecimal
)

// Spec describes a provider as data. Zero values mean RFC 6749's defaults.
type Spec struct {
	Platform string // as in paths: "facebook", "meta_ads"
	Name     string // display name
	Kind     Kind
	// Family names the application that is registered with the provider. Platforms of one family share a client id, a
	// secret and, if RevokesSiblings is set, revocations.
	Family string
	// Instead names another family; its application is used if Family has none. Logins that were made with it are
	// renewed and revoked with it even after Family gets its own application: see Set.Of.
	Instead string
	// Version is the tested API version in the addresses; App.Version overrides it.
	Version string

	AuthURL  string
	TokenURL string
	// RevokeURL is the RFC 7009 endpoint. If it is "" and Dialect.Revoke is nil, there is no revocation.
	RevokeURL string

	Scopes []string
	// Needed are those of Scopes without which an account is of no use: a person may refuse single ones.
	Needed         []string
	ScopeSeparator string     // " " if empty
	AuthParams     url.Values // further parameters of the authorize URL
	ClientParam    string     // "client_id" if empty
	CodeParam      string     // of the callback; "code" if empty
	Auth           ClientAuth // InBody if empty
	PKCE           Challenge

	Renewal Renewal
	// Lifetime and RefreshLifetime are assumed if a response states none; 0 means no expiry, or an unknown one.
	Lifetime        time.Duration
	RefreshLifetime time.Duration
	// MinAge is how old a token must be before it may be renewed.
	MinAge time.Duration
	// Rotates: a refresh token is valid for a single use. If the response is lost, the login may be lost too; a second
	// use can invalidate all tokens of the login.
	Rotates bool

	// Several: one login may reach several accounts, from which a person chooses.
	Several bool
	// OwnTokens: accounts have their own tokens, which Login returns, and which must be fetched again when the login's
	// token is renewed.
	OwnTokens bool
	// Notifies: the provider posts a signed request when a person removes the application or wants their data erased.
	Notifies bool
	// RevokesSiblings: revoking one token ends every grant of the person to this client id.
	RevokesSiblings bool

	// Rate is the budget of token requests per second for the client id; Burst is how many may be sent at once.
	Rate  float64
	Burst int

	Dialect Dialect
}

// Dialect holds a provider's departures from the standard. A nil function means the standard behavior.
type Dialect struct {
	// Request obtains an OAuth 1.0a request token for a flow that returns to callbackURL. nil means that the platform
	// uses OAuth 2.0.
	Request  func(ctx context.Context, p *Provider, callbackURL string) (Secret, error)
	Exchange func(ctx context.Context, p *Provider, c Code) (Token, error)
	Refresh  func(ctx context.Context, p *Provider, t Token) (Token, error)
	// Login has no standard form: every provider needs its own.
	Login  func(ctx context.Context, p *Provider, t Token) (Login, []Account, error)
	Revoke func(ctx context.Context, p *Provider, t Token) error
	// Judge classifies a response that is not clearly successful. It returns "" to fall back to the standard
	// classification. It is also called for responses with status 200, since some providers report errors in them.
	Judge func(r Reply) (Class, string)
}

// Code is the result of a consent.
type Code struct {
	Code        Secret
	Verifier    Secret // the result of Begin
	CallbackURL string
}
