package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// refusal is why a request is not served, before a dialect says it in its words.
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
)

// Rotations of refresh tokens.
const (
	Strict = "strict" // good for one use; a second one ends the login
	Single = "single" // good for one use; a second one is refused
	Grace  = "grace"  // good for one use, and for some time after it: then it answers the same successor again
	Fixed  = "fixed"  // stays
)

// dialect is a family of platforms as data, and its words.
type dialect struct {
	family string
	name   string // on the consent page
	// authorize is the address of the consent page.
	authorize string
	client    string // the parameter of the client's id
	secret    string // and of its secret
	basic     bool   // they come in the header, and not in the body
	pkce      pkce
	codeAs    string // the parameter of the callback; "code"
	denied    url.Values

	first    string        // the kind of token that a code is redeemed for
	access   time.Duration // 0: does not end
	refresh  time.Duration // 0: no known end
	absolute bool          // refresh counts from the login
	rotation string
	repeats  bool // an answer names a refresh token although it is the old one
	// grantsRefresh tells whether a login has a refresh token at all.
	grantsRefresh func(*code) bool
	siblings      bool // revoking one login of a person ends all of the client
	refuse        func(refusal) *answer
	routes        map[string]route // "METHOD host/path"
}

type pkce int

const (
	noPKCE pkce = iota
	mayPKCE
	mustPKCE
	hexPKCE // may, and the challenge is the hash in hexadecimal
)

func dialects() []*dialect {
	return []*dialect{facebook(), instagram(), linkedin(), x(), tiktok(), tiktokAds(), google(), pinterest()}
}

func dialectOf(family string) *dialect {
	for _, d := range dialects() {
		if d.family == family {
			return d
		}
	}
	return nil
}

// Families are the names of the dialects.
func Families() []string {
	var all []string
	for _, d := range dialects() {
		all = append(all, d.family)
	}
	return all
}

// standard is RFC 6749's way to refuse.
func standard(r refusal) *answer {
	status, name := http.StatusBadRequest, "invalid_grant"
	switch r {
	case badClient:
		status, name = http.StatusUnauthorized, "invalid_client"
	case badGrant:
		name = "unsupported_grant_type"
	default: // about the code or the token
	}
	return &answer{status: status, body: map[string]any{"error": name, "error_description": string(r)}}
}

// token is the endpoint of RFC 6749.
func token() route {
	return route{op: opToken, do: func(c *call) *answer {
		if why := c.authenticate(); why != "" {
			return c.d.refuse(why)
		}
		var l *login
		var why refusal
		switch c.get("grant_type") {
		case "authorization_code":
			l, why = c.redeem()
		case "refresh_token":
			l, why = c.renew()
		default:
			why = badGrant
		}
		if why != "" {
			return c.d.refuse(why)
		}
		return ok(c.granted(l))
	}}
}

// revoke is RFC 7009's endpoint, of whichever token.
func revoke(param string) route {
	return route{op: opRevoke, do: func(c *call) *answer {
		if why := c.authenticate(); why != "" {
			return c.d.refuse(why)
		}
		if l, _ := c.tx.holder(c.get(param)); l != nil && l.Family == c.d.family {
			c.tx.end(c.d, l)
		}
		return ok(map[string]any{})
	}}
}

// authenticate checks the client where this provider wants it.
func (c *call) authenticate() refusal {
	wantID, wantSecret := Client(c.d.family)
	user, password, basic := c.r.BasicAuth()
	if c.d.basic {
		user, _ = url.QueryUnescape(user)
		password, _ = url.QueryUnescape(password)
		if !basic || user != wantID || password != wantSecret || c.get(c.d.secret) != "" {
			return badClient
		}
		return ""
	}
	if basic || c.get(c.d.client) != wantID || c.get(c.d.secret) != wantSecret {
		return badClient
	}
	return ""
}

// asked is a route of an API: do gets the login that the token belongs to.
func asked(scope []string, do func(*call, *login) *answer) route {
	return route{op: opAPI, do: func(c *call) *answer {
		l, why := c.bearer()
		if why == "" && len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool { return slices.Contains(l.Scopes, s) }) {
			why = noScope
		}
		if why != "" {
			return c.d.refuse(why)
		}
		return do(c, l)
	}}
}

// bearer finds the login that a request acts for.
func (c *call) bearer() (*login, refusal) {
	raw, is := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	if !is {
		raw = c.r.Header.Get("Access-Token")
	}
	if raw == "" {
		raw = c.get("access_token")
	}
	return c.living(raw)
}

// living finds the login of an access token that is good.
func (c *call) living(raw string) (*login, refusal) {
	l, t := c.tx.holder(raw)
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
