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
type issuedToken struct {
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

// randomSecret returns 160 random bits as text.
func randomSecret(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// hashedID returns the row id of a secret: a hash, so that ids reveal no secret.
func hashedID(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// storeConsent stores a consent and returns its code.
func (t *tx) storeConsent(c *code) string {
	raw := randomSecret(CodeMark + "-")
	c.Until = t.now.Add(codeTime)
	writeRow(t, "code", hashedID(raw), c)
	return raw
}

// redeemCode exchanges a code for a login. A request of the right client spends the code, even if it fails.
func (c *call) redeemCode() (*login, refusal) {
	at := hashedID(c.param(c.d.codeAs))
	found := readRow[code](c.tx, "code", at)
	id, _ := Client(c.d.family)
	if found == nil || found.Family != c.d.family || found.Client != id || !c.tx.now.Before(found.Until) {
		return nil, badCode
	}

	deleteRow(c.tx, "code", at)
	if redirect := c.param("redirect_uri"); redirect != found.Redirect &&
		(redirect != "" || c.d.family != "tiktok_ads") {
		return nil, badRedirect
	}

	if found.Challenge != "" &&
		subtle.ConstantTimeCompare([]byte(c.d.hashVerifier(c.param("code_verifier"))),
			[]byte(found.Challenge)) != 1 {
		return nil, badVerifier
	}

	return c.tx.createLogin(c.d, found), ""
}

// hashVerifier returns the PKCE challenge of a verifier.
func (d *dialect) hashVerifier(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	if d.pkce == hexPKCE {
		return hex.EncodeToString(sum[:])
	}
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// createLogin makes the login of a consent, with its first tokens.
func (t *tx) createLogin(d *dialect, from *code) *login {
	if d.signs {
		return t.beginSigned(d, from)
	}

	l := &login{
		ID: randomSecret("login-"), Family: d.family, Person: from.Person, Subject: subjectOf(d.family, from.Person),
		Scopes: from.Scopes, All: from.All, Owned: from.Owned,
		MadeAt: t.now,
	}
	t.issueAccess(d, l, d.first)
	if d.grantsRefresh != nil && d.grantsRefresh(from) {
		l.RefreshEnd = t.expiryAfter(t.knobsOf(d.family).RefreshLifetime.orDefault(d.refresh))
		t.issueRefresh(l)
	}

	t.saveLogin(l)

	return l
}

// expiryAfter returns the time d from now; nil if there is no expiry.
func (t *tx) expiryAfter(d time.Duration) *time.Time {
	if d <= 0 {
		return nil
	}
	at := t.now.Add(d)
	return &at
}

// issueAccess issues an access token, which becomes the login's newest.
func (t *tx) issueAccess(d *dialect, l *login, kind string) {
	if kind == "" {
		kind = kindAccess
	}
	l.AccessEnd = t.expiryAfter(t.knobsOf(d.family).Lifetime.orDefault(d.access))
	l.Access = t.issueToken(l, kind, l.AccessEnd)
}

func (t *tx) issueRefresh(l *login) { l.Refresh = t.issueToken(l, kindRefresh, l.RefreshEnd) }

// issueToken issues a token of a login and deletes its oldest ones.
func (t *tx) issueToken(l *login, kind string, until *time.Time) string {
	raw := randomSecret(TokenMark + "-" + kind + "-")
	if l.Secret != "" {
		raw = l.Subject + "-" + raw
	}

	writeRow(t, "token", hashedID(raw), &issuedToken{
		Login: l.ID, Kind: kind, MadeAt: t.now,
		Until: until,
	})
	for l.Tokens = append(l.Tokens, hashedID(raw)); len(l.Tokens) > keptTokens; l.Tokens = l.Tokens[1:] {
		deleteRow(t, "token", l.Tokens[0])
	}

	return raw
}

func (t *tx) saveLogin(l *login) { writeRow(t, "login", l.ID, l) }

// findHolder returns a token and its login; nil, nil if there is none.
func (t *tx) findHolder(raw string) (*login, *issuedToken) {
	if raw == "" {
		return nil, nil
	}

	found := readRow[issuedToken](t, "token", hashedID(raw))
	if found == nil {
		return nil, nil
	}

	return readRow[login](t, "login", found.Login), found
}

// endLogin ends a login and, if the provider does so, everything that the person granted to this client.
func (t *tx) endLogin(d *dialect, l *login) {
	ended := []*login{l}
	if d.siblings {
		for _, other := range listRows[login](t, "login", 0) {
			if other.Family == l.Family && other.Subject == l.Subject && other.ID != l.ID && other.Dead == "" {
				ended = append(ended, other)
			}
		}
	}

	for _, e := range ended {
		if e.Dead == "" {
			e.Dead = "revoked"
			t.saveLogin(e)
		}
	}
}

// mayReach reports whether the person granted access to the account.
func (l *login) mayReach(id string) bool { return l.All || slices.Contains(l.Owned, id) }
