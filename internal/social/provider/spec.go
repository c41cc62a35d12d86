package provider

import (
	"context"
	"net/url"
	"time"
)

// Kind tells the two sorts of connections apart.
type Kind string

// The kinds.
const (
	Social Kind = "social"
	Ads    Kind = "ads"
)

// Renewal is how an access token gets a successor.
type Renewal string

// The renewals.
const (
	// NoRenewal: the token does not end, or ends for good.
	NoRenewal Renewal = "none"
	// ByExchange: the living access token is exchanged for another (Facebook).
	ByExchange Renewal = "exchange"
	// ByExtension: the living access token is extended (Instagram).
	ByExtension Renewal = "extend"
	// ByRefreshToken: RFC 6749, section 6.
	ByRefreshToken Renewal = "refresh_token"
)

// ClientAuth is where the client's id and secret go. It is fixed for each provider: trying the other way after a
// refusal would be a second request.
type ClientAuth string

// The ways.
const (
	InBody  ClientAuth = "body"
	InBasic ClientAuth = "basic"
)

// Challenge is how the PKCE verifier is hidden in the authorize URL.
type Challenge string

// The challenges.
const (
	NoPKCE  Challenge = ""
	S256    Challenge = "S256"     // RFC 7636
	S256Hex Challenge = "S256-hex" // TikTok's own: the hash in hexadecimal
)

// Spec is a provider as data. The zero values are RFC 6749's ways.
type Spec struct {
	Platform string // as in paths: "facebook", "meta_ads"
	Name     string // for people
	Kind     Kind
	// Family names the application that is registered with the provider: platforms of one family share a client id,
	// a secret and, where RevokesSiblings says so, a revocation.
	Family string
	// Instead is the family whose application is used where Family has none of its own. Logins that were made with it
	// are renewed and revoked with it, also once Family has an application: see Set.Of.
	Instead string
	// Version is the version of the API that the addresses name, as it was tested; App.Version stands in for it.
	Version string

	AuthURL  string
	TokenURL string
	// RevokeURL takes RFC 7009's request; "" with no Dialect.Revoke: there is none.
	RevokeURL string

	Scopes         []string
	ScopeSeparator string     // " " if empty
	AuthParams     url.Values // further parameters of the authorize URL
	ClientParam    string     // "client_id" if empty
	CodeParam      string     // of the callback; "code" if empty
	Auth           ClientAuth // InBody if empty
	PKCE           Challenge

	Renewal Renewal
	// Lifetime and RefreshLifetime are taken where an answer states none; 0: it does not end, or nobody knows.
	Lifetime        time.Duration
	RefreshLifetime time.Duration
	// MinAge is how old a token must be before it may be renewed.
	MinAge time.Duration
	// Rotates: a refresh token is good for one use. If the answer is lost, so may be the login; a second use can end
	// all tokens of the login.
	Rotates bool

	// Several: one login may reach several accounts, among which a person chooses.
	Several bool
	// OwnTokens: accounts have tokens of their own, which Login answers and which are to be asked for anew when the
	// login's is renewed.
	OwnTokens bool
	// Notifies: the provider tells by a signed request that a person removed the application, or wants their data erased.
	Notifies bool
	// RevokesSiblings: revoking one token ends all that the person granted to this client id.
	RevokesSiblings bool

	// Rate is the budget of token requests per second for the whole client id, Burst how many may go at once.
	Rate  float64
	Burst int

	Dialect Dialect
}

// Dialect is where a provider departs from the standard. A nil function is the standard's way.
type Dialect struct {
	Exchange func(ctx context.Context, p *Provider, c Code) (Token, error)
	Refresh  func(ctx context.Context, p *Provider, t Token) (Token, error)
	// Login has no standard's way: every provider has one of its own.
	Login  func(ctx context.Context, p *Provider, t Token) (Login, []Account, error)
	Revoke func(ctx context.Context, p *Provider, t Token) error
	// Judge reads an answer that is not plainly good. It answers "" for one that it has no opinion on: then the
	// standard's reading holds. It is also asked about answers of status 200, for providers that put errors there.
	Judge func(r Reply) (Class, string)
}

// Code is what came back from consent.
type Code struct {
	Code        Secret
	Verifier    Secret
	CallbackURL string
}
