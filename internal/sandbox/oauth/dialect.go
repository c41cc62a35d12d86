package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// refusal is the reason to refuse a request, independent of the dialect.
type refusal string

const (
	badClient   refusal = "the client's id or secret is wrong, or in the wrong place"
	badGrant    refusal = "the grant type is not known here"
	badCode     refusal = "the code is unknown, spent or too old"
	badRedirect refusal = "the redirect URI is not the one that the code was asked with"
	badVerifier refusal = "the verifier does not fit the challenge"
	badRefresh  refusal = "the refresh token is unknown, spent, revoked or too old"
	badAccess   refusal = "the access token is unknown"
	oldAccess   refusal = "the access token has ended"
	lostAccess  refusal = "the person took the grant back"
	tooYoung    refusal = "the token is too young to be extended"
	noScope     refusal = "the person did not grant that"
	noDeveloper refusal = "the developer token is missing"
	badSigned   refusal = "the signature is wrong, or its nonce was used"
	badTime     refusal = "the timestamp is not of the last minutes"
	badCallback refusal = "the callback is not registered"
)

// Rotations of refresh tokens.
const (
	Strict = "strict" // single use; a second use ends the login
	Single = "single" // single use; a second use is refused
	Grace  = "grace"  // single use; for some time, a second use returns the same successor
	Fixed  = "fixed"  // does not rotate
)

// dialect describes a family of platforms: data, and its error format.
type dialect struct {
	family string
	name   string // on the consent page
	// authorize is the address of the consent page.
	authorize string
	client    string // the parameter name of the client's id
	secret    string // the parameter name of the client's secret
	basic     bool   // both are sent in the header instead of the body
	pkce      pkce
	codeAs    string // the code's parameter name in the callback; default "code"
	denied    url.Values

	first    string        // the kind of token issued for a code
	access   time.Duration // 0: does not expire
	refresh  time.Duration // 0: no known expiry
	absolute bool          // the lifetime of refresh counts from the login
	rotation string
	repeats  bool // a response includes the refresh token even if unchanged
	// grantsRefresh reports whether a login has a refresh token at all.
	grantsRefresh func(*code) bool
	siblings      bool // revoking a login ends all of the person's for the client
	signs         bool // RFC 5849 signatures; one living token per person
	refuse        func(refusal) *answer
	routes        map[string]route // "METHOD host/path"
}

type pkce int

const (
	noPKCE pkce = iota
	mayPKCE
	mustPKCE
	hexPKCE // optional; the challenge is the hash in hexadecimal
)

func dialects() []*dialect {
	return []*dialect{
		facebook(), instagram(), linkedin(), xDialect(), tiktok(), tiktokAds(), google(), pinterest(),
		microsoft(), xAds(),
	}
}

func dialectOf(family string) *dialect {
	for _, d := range dialects() {
		if d.family == family {
			return d
		}
	}
	return nil
}

// Families returns the names of the dialects.
func Families() []string {
	var all []string
	for _, d := range dialects() {
		all = append(all, d.family)
	}
	return all
}

// refuseStandard formats a refusal as RFC 6749 does.
func refuseStandard(r refusal) *answer {
	status := http.StatusBadRequest
	name := "invalid_grant"
	switch r {
	case badClient:
		status = http.StatusUnauthorized
		name = "invalid_client"
	case badGrant:
		name = "unsupported_grant_type"
	default: // about the code or the token
	}

	return &answer{status: status, body: map[string]any{"error": name, "error_description": string(r)}}
}

// tokenRoute serves the token endpoint of RFC 6749.
func tokenRoute() route {
	return route{op: opToken, do: func(c *call) *answer {
		if why := c.checkClient(); why != "" {
			return c.d.refuse(why)
		}

		var l *login
		var why refusal
		switch c.param("grant_type") {
		case "authorization_code":
			l, why = c.redeemCode()
		case "refresh_token":
			l, why = c.renewLogin()
		default:
			why = badGrant
		}

		if why != "" {
			return c.d.refuse(why)
		}

		return success(c.tokenResponse(l))
	}}
}

// revokeRoute serves the endpoint of RFC 7009, for tokens of any kind.
func revokeRoute(param string) route {
	return route{op: opRevoke, do: func(c *call) *answer {
		if why := c.checkClient(); why != "" {
			return c.d.refuse(why)
		}

		if l, _ := c.tx.findHolder(c.param(param)); l != nil && l.Family == c.d.family {
			c.tx.endLogin(c.d, l)
		}

		return success(map[string]any{})
	}}
}

// checkClient checks the client's credentials in the place where the provider expects them.
func (c *call) checkClient() refusal {
	wantID, wantSecret := Client(c.d.family)
	user, password, basic := c.r.BasicAuth()
	if c.d.basic {
		user, _ = url.QueryUnescape(user)
		password, _ = url.QueryUnescape(password)
		if !basic || user != wantID || password != wantSecret || c.param(c.d.secret) != "" {
			return badClient
		}
		return ""
	}

	if basic || c.param(c.d.client) != wantID || c.param(c.d.secret) != wantSecret {
		return badClient
	}

	return ""
}

// loginRoute returns a route of an API; do gets the login of the token.
func loginRoute(scope []string, do func(*call, *login) *answer) route {
	return route{op: opAPI, do: func(c *call) *answer {
		l, why := c.bearerLogin()
		if why == "" && len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool {
			return slices.Contains(l.Scopes, s)
		}) {
			why = noScope
		}

		if why != "" {
			return c.d.refuse(why)
		}

		return do(c, l)
	}}
}

// bearerLogin returns the login of the request's bearer token.
func (c *call) bearerLogin() (*login, refusal) {
	raw, is := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	if !is {
		raw = c.r.Header.Get("Access-Token")
	}
	if raw == "" {
		raw = c.param("access_token")
	}

	return c.livingLogin(raw)
}

// livingLogin returns the login of a valid access token.
func (c *call) livingLogin(raw string) (*login, refusal) {
	l, t := c.tx.findHolder(raw)
	switch {
	case l == nil || l.Family != c.d.family || t.Kind == kindRefresh:
		return nil, badAccess
	case l.Dead != "":
		return nil, lostAccess
	case t.Until != nil && !c.tx.now.Before(*t.Until):
		return nil, oldAccess
	default:
		return l, ""
	}
}
