package social

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Actor is who began a connection: a user or an API key. Staff is the agency for which a user acts, zero for none.
type Actor struct {
	Type  string
	ID    id.ID
	Staff id.ID
}

// Start is what a connection begins with.
type Start struct {
	Platform string
	Kind     provider.Kind
	Actor    Actor
	Account  *id.ID // to connect anew; nil: whichever the person logs in with
	// RedirectURL is where the browser ends; the caller has held it to the allowed origins. "": a page of ours.
	RedirectURL string
	Browser     bool // the console began it: only the browser that gets Cookie may come back
}

// Begun is a connection that waits for its callback.
type Begun struct {
	AuthorizeURL string
	State        string
	ExpiresAt    wire.Time
	Cookie       string // "" unless Browser
}

// statePrefix marks a state: 16 bytes of the org and 32 random ones in base64url follow. The org in front lets the row
// be found under the org's policy; the hash covers the whole text.
const statePrefix = "fo_"

// ErrState is one answer for a state that was used, is over, never was, or belongs to another platform or browser.
var ErrState = fault.New(fault.InvalidState, "This connection was already finished, has expired or was begun elsewhere. Begin it again.")

// Begin writes a state in tx and answers where the person's browser goes. ErrUnknownPlatform, ErrUnsupported and
// ErrUnconfigured are provider's; an account that is not there, or not of the platform, is a 422 about account_id.
func (s *Service) Begin(ctx context.Context, tx *postgres.Tx, in Start) (Begun, error) {
	p, err := s.platform(in.Platform, in.Kind)
	if err != nil {
		return Begun{}, err
	}
	if err := known(ctx, tx, in); err != nil {
		return Begun{}, err
	}
	state, hash := newState(tx.Org())
	out := Begun{State: state}
	verifier := provider.NewVerifier()
	sealed, err := s.Box.Seal([]byte(verifier.Reveal()), verifierAbout(tx.Org(), hash))
	if err != nil {
		return Begun{}, fmt.Errorf("seal verifier: %w", err)
	}
	var browser []byte
	if in.Browser {
		out.Cookie = random()
		browser = digest(out.Cookie)
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO oauth_state (org_id, hash, platform, kind, actor_type, actor_id, staff_of, account_id, verifier, redirect_url, browser, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, NULLIF($7, '00000000-0000-0000-0000-000000000000'::uuid), $8, $9, $10, $11, now() + $12::interval)
		RETURNING expires_at`,
		[]any{tx.Org(), hash, in.Platform, string(in.Kind), in.Actor.Type, in.Actor.ID, in.Actor.Staff, in.Account, sealed, in.RedirectURL, browser, StateLife},
		&out.ExpiresAt)
	if err != nil {
		return Begun{}, fmt.Errorf("write state: %w", err)
	}
	out.AuthorizeURL = p.AuthorizeURL(state, verifier, s.CallbackURL(in.Platform))
	return out, nil
}

// known refuses to connect anew what is not there.
func known(ctx context.Context, tx *postgres.Tx, in Start) error {
	if in.Account == nil {
		return nil
	}
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM social_account WHERE org_id = $1 AND id = $2 AND platform = $3`, []any{tx.Org(), *in.Account, in.Platform}, &one)
	if postgres.None(err) {
		return fault.Invalid("account_id", "unknown_account", "There is no such account of this platform.")
	}
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	return nil
}

// Taken is a state that was used up: what the callback goes on with.
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

// StateOrg reads the org out of a state that newState may have made.
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

// Take uses a state up, in tx of its org. cookie is that of CookieName, "" where the browser sent none. A state of another
// platform or browser stays for those it belongs to; the answer is ErrState all the same.
func (s *Service) Take(ctx context.Context, tx *postgres.Tx, platform, state, cookie string) (*Taken, error) {
	hash := digest(state)
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
		[]any{tx.Org(), hash, platform, digest(cookie)}, &kind, &t.Actor.Type, &t.Actor.ID, &staff, &t.Account, &sealed, &t.RedirectURL, &t.Browser)
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
	return t, nil
}

// CookieName is the cookie that binds a state to a browser: each connection has one of its own, so that two tabs do not
// meet. secure says that the page is on https, without which browsers refuse the prefix.
func CookieName(state string, secure bool) string {
	name := fmt.Sprintf("funnelwork-connect-%x", digest(state)[:8])
	if secure {
		return "__Host-" + name
	}
	return name
}

// platform answers a platform's provider, if it is one of kind.
func (s *Service) platform(name string, kind provider.Kind) (*provider.Provider, error) {
	p, err := s.Providers.Get(name)
	if err == nil && p.Kind != kind {
		return nil, provider.ErrUnknownPlatform
	}
	return p, err
}

// Missing tells whether err says that a platform cannot be connected, whoever asks.
func Missing(err error) bool {
	return errors.Is(err, provider.ErrUnknownPlatform) || errors.Is(err, provider.ErrUnsupported) || errors.Is(err, provider.ErrUnconfigured)
}

func newState(org id.ID) (state string, hash []byte) {
	var raw [48]byte
	copy(raw[:16], org[:])
	_, _ = rand.Read(raw[16:]) // never fails
	state = statePrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return state, digest(state)
}

// random is 256 bits as text.
func random() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// digest is SHA-256: what is stored of a state and of a cookie.
func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
