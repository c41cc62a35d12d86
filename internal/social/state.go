package social

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Actor is the user or API key that began a connection. Staff is the agency for which a user acts, zero for none.
type Actor struct {
	Type  string
	ID    id.ID
	Staff id.ID
}

// Start holds the parameters of a new connection.
type Start struct {
	Platform string
	Kind     provider.Kind
	Actor    Actor
	Account  *id.ID // the account to reconnect; nil: any
	// RedirectURL is the final destination of the browser, which the caller has checked against the allowed origins. ""
	// means our own page.
	RedirectURL string
	Browser     bool // begun by the console: only the browser with Cookie may return
}

// Begun is a connection that is waiting for its callback.
type Begun struct {
	AuthorizeURL string
	State        string
	ExpiresAt    wire.Time
	Cookie       string // "" unless Browser
}

// statePrefix begins a state; 16 bytes of the org id and 32 random bytes follow in base64url. With the org id the row
// can be found under the org's policy. The stored hash covers the whole text.
const statePrefix = "fo_"

// ErrState is the common error for a state that was used, has expired, never existed, or belongs to another platform or
// browser.
var ErrState = fault.New(fault.InvalidState,
	"This connection was already finished, has expired or was begun elsewhere. Begin it again.")

// Prepared is a connection that is not stored yet. The flow's secret is sealed in it.
type Prepared struct {
	start        Start
	state        string
	hash, sealed []byte
	authorizeURL string
}

// AsksFirst reports whether Prepare makes a request to the platform. It returns the same errors as Prepare.
func (s *Service) AsksFirst(in Start) (bool, error) {
	p, err := s.providerOf(in.Platform, in.Kind)
	return err == nil && p.AsksFirst(), err
}

// Prepare creates the state of a connection and, with OAuth 1.0a, obtains a request token from the platform. It must
// not be called within a transaction. ErrUnknownPlatform, ErrUnconfigured and the errors of the request are those of
// package provider: see Failure. If the connection is never begun, the request token expires.
func (s *Service) Prepare(ctx context.Context, org id.ID, in Start) (*Prepared, error) {
	p, err := s.providerOf(in.Platform, in.Kind)
	if err != nil {
		return nil, err
	}

	out := &Prepared{start: in}
	out.state, out.hash = newState(org)
	verifier, err := p.Begin(ctx, out.state, s.CallbackURL(in.Platform))
	if err != nil {
		return nil, err
	}

	if out.sealed, err = s.Box.Seal([]byte(verifier.Reveal()), verifierAbout(org, out.hash)); err != nil {
		return nil, fmt.Errorf("seal verifier: %w", err)
	}

	out.authorizeURL = p.AuthorizeURL(out.state, verifier, s.CallbackURL(in.Platform))

	return out, nil
}

// Begin stores the state of a prepared connection in tx, which must be of the same org, and returns the URL for the
// person's browser. If the account to reconnect does not exist on the platform, the error is a 422 about account_id.
func (s *Service) Begin(ctx context.Context, tx *postgres.Tx, ready *Prepared) (Begun, error) {
	in := ready.start
	if err := Check(ctx, tx, in); err != nil {
		return Begun{}, err
	}

	out := Begun{State: ready.state, AuthorizeURL: ready.authorizeURL}
	var browser []byte
	if in.Browser {
		out.Cookie = randomText()
		browser = hashText(out.Cookie)
	}

	err := tx.QueryRow(ctx, `
		INSERT INTO oauth_state (org_id, hash, platform, kind, actor_type, actor_id, staff_of, account_id,
		verifier, redirect_url, browser, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, NULLIF($7, '00000000-0000-0000-0000-000000000000'::uuid), $8, $9, $10,
		$11, now() + $12::interval)
		RETURNING expires_at`,
		[]any{
			tx.Org(), ready.hash, in.Platform, string(in.Kind), in.Actor.Type, in.Actor.ID, in.Actor.Staff, in.Account,
			ready.sealed, in.RedirectURL, browser, StateLife,
		}, &out.ExpiresAt)
	if err != nil {
		return Begun{}, fmt.Errorf("write state: %w", err)
	}

	return out, nil
}

// Check returns a 422 about account_id if the account to reconnect does not exist.
func Check(ctx context.Context, tx *postgres.Tx, in Start) error {
	if in.Account == nil {
		return nil
	}

	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM social_account WHERE org_id = $1 AND id = $2 AND platform = $3`,
		[]any{tx.Org(), *in.Account, in.Platform}, &one)
	if postgres.None(err) {
		return fault.Invalid("account_id", "unknown_account", "There is no such account of this platform.")
	}

	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}

	return nil
}

// Taken is a consumed state, with which the callback continues.
type Taken struct {
	Org         id.ID
	Platform    string
	Kind        provider.Kind
	Actor       Actor
	Account     *id.ID
	RedirectURL string
	Browser     bool
	verifier    provider.Secret
}

// StateOrg parses the org from a state; ok is false if the text does not have the form of a state.
func StateOrg(state string) (org id.ID, ok bool) {
	rest, ok := strings.CutPrefix(state, statePrefix)
	if !ok || len(rest) != 64 {
		return id.ID{}, false
	}

	raw, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil {
		return id.ID{}, false
	}

	return id.ID(raw[:16]), true
}

// Take consumes a state in tx, which must be of the state's org. cookie is the value of the cookie CookieName, or "" if
// the browser sent none. query is the query of the callback; with OAuth 1.0a it must name the state's request token.
// For a state of another platform, browser or request token Take returns ErrState, and the caller must roll back tx, so
// that the state remains valid for its owner.
func (s *Service) Take(
	ctx context.Context, tx *postgres.Tx, platform, state, cookie string, query url.Values,
) (*Taken, error) {
	hash := hashText(state)
	t := &Taken{Org: tx.Org(), Platform: platform}
	var (
		sealed []byte
		staff  *id.ID
		kind   string
	)
	err := tx.QueryRow(ctx, `
		DELETE FROM oauth_state
		WHERE org_id = $1 AND hash = $2 AND platform = $3 AND expires_at > now() AND (browser IS NULL OR browser = $4)
		RETURNING kind, actor_type, actor_id, staff_of, account_id, verifier, redirect_url, browser IS NOT NULL`,
		[]any{tx.Org(), hash, platform, hashText(cookie)}, &kind, &t.Actor.Type, &t.Actor.ID, &staff, &t.Account,
		&sealed, &t.RedirectURL, &t.Browser)
	if postgres.None(err) {
		return nil, ErrState
	}

	if err != nil {
		return nil, fmt.Errorf("take state: %w", err)
	}

	t.Kind = provider.Kind(kind)
	if staff != nil {
		t.Actor.Staff = *staff
	}

	if sealed != nil {
		plain, err := s.Box.Open(sealed, verifierAbout(tx.Org(), hash))
		if err != nil {
			return nil, fmt.Errorf("open verifier: %w", err)
		}
		t.verifier = provider.Secret(plain)
	}

	if p, err := s.Providers.Get(platform); err == nil && !p.Matches(t.verifier, query) {
		return nil, ErrState
	}

	return t, nil
}

// CookieName returns the name of the cookie that binds a state to a browser. Each connection has its own cookie, so
// that two tabs do not interfere. secure must be set if the page is on https; without https browsers refuse the prefix.
func CookieName(state string, secure bool) string {
	name := fmt.Sprintf("funnelwork-connect-%x", hashText(state)[:8])
	if secure {
		return "__Host-" + name
	}
	return name
}

// providerOf returns the provider of a platform if the platform is of the given kind.
func (s *Service) providerOf(name string, kind provider.Kind) (*provider.Provider, error) {
	p, err := s.Providers.Get(name)
	if err == nil && p.Kind != kind {
		return nil, provider.ErrUnknownPlatform
	}
	return p, err
}

func newState(org id.ID) (state string, hash []byte) {
	var raw [48]byte
	copy(raw[:16], org[:])
	_, _ = rand.Read(raw[16:]) // never fails
	state = statePrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return state, hashText(state)
}

// randomText returns 256 random bits as text.
func randomText() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// hashText returns the SHA-256 hash of text. Only the hashes of states and cookies are stored.
func hashText(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
