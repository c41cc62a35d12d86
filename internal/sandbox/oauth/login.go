package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// code is the result of a consent until it is redeemed.
type code struct {
	Family    string    `json:"family"`
	Client    string    `json:"client"`
	Redirect  string    `json:"redirect"`
	Challenge string    `json:"challenge"`
	Scopes    []string  `json:"scopes"`
	Offline   bool      `json:"offline"`
	Person    string    `json:"person"`
	All       bool      `json:"all"` // everything the person owns
	Owned     []string  `json:"owned"`
	Until     time.Time `json:"until"`
}

// login is the result of redeeming a code: one grant with its tokens.
type login struct {
	ID        string     `json:"id"`
	Family    string     `json:"family"`
	Person    string     `json:"person"`
	Subject   string     `json:"subject"`
	Scopes    []string   `json:"scopes"`
	All       bool       `json:"all"`
	Owned     []string   `json:"owned"`
	MadeAt    time.Time  `json:"made_at"`
	Dead      string     `json:"dead,omitempty"`         // the reason, or ""
	Access    string     `json:"access_token"`           // the newest
	Secret    string     `json:"token_secret,omitempty"` // signs requests with Access
	Refresh   string     `json:"refresh_token,omitempty"`
	AccessEnd *time.Time `json:"access_expires_at,omitempty"`
	// RefreshEnd counts from the login or from the last refresh.
	RefreshEnd *time.Time `json:"refresh_expires_at,omitempty"`
	Refreshes  int        `json:"refreshes"` // successful ones
	Requests   int        `json:"requests"`  // for renewal, including refused ones
	Tokens     []string   `json:"tokens"`    // row ids, newest last
}

// Kinds of tokens.
const (
	kindAccess  = "access"
	kindShort   = "short" // Meta's: valid for an hour and for one exchange
	kindRefresh = "refresh"
	kindPage    = "page"
)

// issued is one token.
type issued struct {
	Login  string     `json:"login"`
	Kind   string     `json:"kind"`
	MadeAt time.Time  `json:"made_at"`
	Until  *time.Time `json:"until,omitempty"`
	Spent  *time.Time `json:"spent,omitempty"`
}

const (
	codeTime = 10 * time.Minute
	// keptTokens is how many tokens of a login are stored; older ones count as unknown.
	keptTokens = 40
)

// random returns 160 random bits as text.
func random(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// place returns the row id of a secret: a hash, so that ids reveal no secret.
func place(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// consent stores a consent and returns its code.
func (t *tx) consent(c *code) string {
	raw := random(CodeMark + "-")
	c.Until = t.now.Add(codeTime)
	put(t, "code", place(raw), c)
	return raw
}

// redeem exchanges a code for a login. A request of the right client spends the code, even if it fails.
func (c *call) redeem() (*login, refusal) {
	at := place(c.get(c.d.codeAs))
	found := get[code](c.tx, "code", at)
	id, _ := Client(c.d.family)
	if found == nil || found.Family != c.d.family || found.Client != id || !c.tx.now.Before(found.Until) {
		return nil, badCode
	}
	drop(c.tx, "code", at)
	if redirect := c.get("redirect_uri"); redirect != found.Redirect && (redirect != "" || c.d.family != "tiktok_ads") {
		return nil, badRedirect
	}
	if found.Challenge != "" &&
		subtle.ConstantTimeCompare([]byte(c.d.challenge(c.get("code_verifier"))), []byte(found.Challenge)) != 1 {
		return nil, badVerifier
	}
	return c.tx.begin(c.d, found), ""
}

// challenge returns the PKCE challenge of a verifier.
func (d *dialect) challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	if d.pkce == hexPKCE {
		return hex.EncodeToString(sum[:])
	}
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// begin makes the login of a consent, with its first tokens.
func (t *tx) begin(d *dialect, from *code) *login {
	if d.signs {
		return t.beginSigned(d, from)
	}
	l := &login{
		ID: random("login-"), Family: d.family, Person: from.Person, Subject: subject(d.family, from.Person),
		Scopes: from.Scopes, All: from.All, Owned: from.Owned,
		MadeAt: t.now,
	}
	t.access(d, l, d.first)
	if d.grantsRefresh != nil && d.grantsRefresh(from) {
		l.RefreshEnd = t.until(t.knobs(d.family).RefreshLifetime.or(d.refresh))
		t.refreshToken(l)
	}
	t.save(l)
	return l
}

// until returns the time d from now; nil if there is no expiry.
func (t *tx) until(d time.Duration) *time.Time {
	if d <= 0 {
		return nil
	}
	at := t.now.Add(d)
	return &at
}

// access issues an access token, which becomes the login's newest.
func (t *tx) access(d *dialect, l *login, kind string) {
	if kind == "" {
		kind = kindAccess
	}
	l.AccessEnd = t.until(t.knobs(d.family).Lifetime.or(d.access))
	l.Access = t.issue(l, kind, l.AccessEnd)
}

func (t *tx) refreshToken(l *login) { l.Refresh = t.issue(l, kindRefresh, l.RefreshEnd) }

// issue issues a token of a login and deletes its oldest ones.
func (t *tx) issue(l *login, kind string, until *time.Time) string {
	raw := random(TokenMark + "-" + kind + "-")
	if l.Secret != "" {
		raw = l.Subject + "-" + raw
	}
	put(t, "token", place(raw), &issued{Login: l.ID, Kind: kind, MadeAt: t.now, Until: until})
	for l.Tokens = append(l.Tokens, place(raw)); len(l.Tokens) > keptTokens; l.Tokens = l.Tokens[1:] {
		drop(t, "token", l.Tokens[0])
	}
	return raw
}

func (t *tx) save(l *login) { put(t, "login", l.ID, l) }

// holder returns a token and its login; nil, nil if there is none.
func (t *tx) holder(raw string) (*login, *issued) {
	if raw == "" {
		return nil, nil
	}
	found := get[issued](t, "token", place(raw))
	if found == nil {
		return nil, nil
	}
	return get[login](t, "login", found.Login), found
}

// end ends a login and, if the provider does so, everything that the person granted to this client.
func (t *tx) end(d *dialect, l *login) {
	ended := []*login{l}
	if d.siblings {
		for _, other := range list[login](t, "login", 0) {
			if other.Family == l.Family && other.Subject == l.Subject && other.ID != l.ID && other.Dead == "" {
				ended = append(ended, other)
			}
		}
	}
	for _, e := range ended {
		if e.Dead == "" {
			e.Dead = "revoked"
			t.save(e)
		}
	}
}

// owns reports whether the person granted access to the account.
func (l *login) owns(id string) bool { return l.All || slices.Contains(l.Owned, id) }
