package oauth

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// temporary is a request token, from the application's first request to the exchange.
type temporary struct {
	Secret   string    `json:"secret"`
	Callback string    `json:"callback"`
	Verifier string    `json:"verifier"` // "" until a person has consented
	Person   string    `json:"person"`
	All      bool      `json:"all"`
	Owned    []string  `json:"owned"`
	Until    time.Time `json:"until"`
}

// xAds returns the dialect of X's Ads API, with X's OAuth 1.0a.
func xAds() *dialect {
	return &dialect{
		family: "x_ads", name: "X Ads", authorize: "api.x.com/oauth/authorize", signs: true, siblings: true,
		refuse: xAdsRefuse,
		routes: map[string]route{
			"POST api.x.com/oauth/request_token":                {op: opRequest, do: xAdsRequestToken},
			"POST api.x.com/oauth/access_token":                 {op: opToken, do: xAdsAccessToken},
			"POST api.x.com/1.1/oauth/invalidate_token":         {op: opRevoke, do: signedBy(xAdsInvalidate)},
			"GET api.x.com/1.1/account/verify_credentials.json": {op: opAPI, do: signedBy(xAdsVerify)},
			"GET ads-api.x.com/{version}/accounts":              {op: opAPI, do: signedBy(xAdsAccounts)},
		},
	}
}

func xAdsRefuse(r refusal) *answer {
	said := func(status, code int, message string) *answer {
		body := map[string]any{"errors": []map[string]any{{"code": code, "message": message}}}
		return &answer{status: status, body: body}
	}
	switch r {
	case badAccess, oldAccess, lostAccess:
		return said(http.StatusUnauthorized, 89, "Invalid or expired token.")
	case badTime:
		return said(http.StatusUnauthorized, 135, "Timestamp out of bounds.")
	case badCallback:
		return said(http.StatusForbidden, 415, "Callback URL not approved for this client application.")
	case badCode:
		wrong := "Error processing your OAuth request: Invalid oauth_verifier parameter"
		return &answer{status: http.StatusUnauthorized, body: wrong}
	case badRefresh: // a request token is wrong
		return &answer{status: http.StatusUnauthorized, body: "Invalid request token."}
	default:
		return said(http.StatusUnauthorized, 32, "Could not authenticate you.")
	}
}

func xAdsRequestToken(c *call) *answer {
	if _, why := c.verifySignature(nil); why != "" {
		return c.d.refuse(why)
	}

	callback := c.param("oauth_callback")
	if u, err := url.Parse(callback); err != nil || u.Host == "" || !c.s.isRegistered(callback) {
		return c.d.refuse(badCallback)
	}

	token := randomSecret(TokenMark + "-request-")
	made := &temporary{
		Secret: randomSecret(TokenMark + "-secret-"), Callback: callback,
		Until: c.tx.now.Add(codeTime),
	}
	writeRow(c.tx, "request", hashedID(token), made)

	return success(url.Values{
		"oauth_token": {token}, "oauth_token_secret": {made.Secret}, "oauth_callback_confirmed": {"true"},
	})
}

// storeRequest returns an unexpired request token; nil if there is none.
func (t *tx) storeRequest(token string) *temporary {
	found := readRow[temporary](t, "request", hashedID(token))
	if found == nil || !t.now.Before(found.Until) {
		return nil
	}
	return found
}

// requestOf returns what an application requests of a person, by its request token.
func (t *tx) requestOf(d *dialect, q url.Values) (consentRequest, string) {
	r := consentRequest{d: d, query: q, token: q.Get("oauth_token")}
	found := t.storeRequest(r.token)
	if found == nil || found.Verifier != "" {
		return r, "The request token is not known here, was used, or has ended."
	}

	r.redirect = found.Callback

	return r, ""
}

// authorizeQuery stores who consents and returns the callback query.
func (t *tx) authorizeQuery(asked consentRequest, person string, all bool,
	accounts []string,
) url.Values {
	found := t.storeRequest(asked.token)
	found.Verifier = randomSecret(CodeMark + "-")
	found.Person = person
	found.All = all
	found.Owned = accounts
	writeRow(t, "request", hashedID(asked.token), found)

	return url.Values{"oauth_token": {asked.token}, "oauth_verifier": {found.Verifier}}
}

// xAdsAccessToken exchanges a request token, once.
func xAdsAccessToken(c *call) *answer {
	var found *temporary
	token, why := c.verifySignature(func(token string) (string, refusal) {
		found = c.tx.storeRequest(token)
		if found == nil {
			return "", badRefresh
		}
		return found.Secret, ""
	})
	if why != "" {
		return c.d.refuse(why)
	}

	given := c.param("oauth_verifier")
	if found.Verifier == "" || subtle.ConstantTimeCompare([]byte(found.Verifier), []byte(given)) != 1 {
		return c.d.refuse(badCode)
	}

	deleteRow(c.tx, "request", hashedID(token))
	l := c.tx.createLogin(c.d, &code{
		Family: c.d.family, Person: found.Person, All: found.All,
		Owned: found.Owned,
	})

	return success(url.Values{
		"oauth_token": {l.Access}, "oauth_token_secret": {l.Secret},
		"user_id": {l.Subject}, "screen_name": {userName(l.Person)},
	})
}

// beginSigned returns the login of a consent: the living one of the same person, as X does, or a new one.
func (t *tx) beginSigned(d *dialect, from *code) *login {
	subject := subjectOf(d.family, from.Person)
	for _, l := range listRows[login](t, "login", 0) {
		if l.Family == d.family && l.Subject == subject && l.Dead == "" {
			l.All = from.All
			l.Owned = from.Owned
			t.saveLogin(l)
			return l
		}
	}

	l := &login{
		ID: randomSecret("login-"), Family: d.family, Person: from.Person, Subject: subject,
		All: from.All, Owned: from.Owned,
		Secret: randomSecret(TokenMark + "-secret-"), MadeAt: t.now,
	}
	t.issueAccess(d, l, kindAccess)
	t.saveLogin(l)

	return l
}

// signedBy returns a handler of requests that are signed with an access token.
func signedBy(do func(*call, *login) *answer) func(*call) *answer {
	return func(c *call) *answer {
		var l *login
		_, why := c.verifySignature(func(token string) (secret string, why refusal) {
			if l, why = c.livingLogin(token); why != "" {
				return "", why
			}
			return l.Secret, ""
		})
		if why != "" {
			return c.d.refuse(why)
		}

		return do(c, l)
	}
}

func xAdsInvalidate(c *call, l *login) *answer {
	c.tx.endLogin(c.d, l)
	return success(map[string]any{"access_token": l.Access})
}

func xAdsVerify(_ *call, l *login) *answer {
	return success(map[string]any{
		"id_str": l.Subject, "name": l.Person,
		"screen_name": userName(l.Person),
	})
}

func xAdsAccounts(c *call, l *login) *answer {
	part, next := pageFrom(c.accountsReached(l, "ads"), c.numberOr("cursor", 0),
		min(max(c.numberOr("count", 200), 1), 1000))
	data := []map[string]any{}
	for _, t := range part {
		data = append(data, map[string]any{
			"id": t.ID, "name": t.Name, "timezone": "America/Los_Angeles",
			"approval_status": "ACCEPTED", "deleted": false,
		})
	}

	body := map[string]any{"data": data, "next_cursor": nil, "request": map[string]any{"params": map[string]any{}}}
	if next >= 0 {
		body["next_cursor"] = strconv.Itoa(next)
	}

	return success(body)
}
