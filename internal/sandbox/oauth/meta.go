package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Lifetimes of Meta's tokens.
const (
	metaShort = time.Hour
	metaLong  = 5183944 * time.Second
)

// graphRefuse formats a refusal as the Graph API does.
func graphRefuse(r refusal) *answer {
	status := http.StatusBadRequest
	code := 190
	sub := 0
	kind := "OAuthException"
	switch r {
	case badClient:
		code = 101
	case badCode:
		code = 100
		sub = 36009
	case badRedirect:
		code = 100
		sub = 36008
	case badVerifier, badGrant, tooYoung:
		code = 100
	case oldAccess:
		sub = 463
	case lostAccess:
		sub = 458
	case noScope:
		status = http.StatusForbidden
		code = 200
	default: // an unknown token
	}

	said := map[string]any{"message": string(r), "type": kind, "code": code, "fbtrace_id": "sandbox"}
	if sub != 0 {
		said["error_subcode"] = sub
	}

	return &answer{status: status, body: map[string]any{"error": said}}
}

// facebook returns the dialect of Facebook's pages and Meta's ads.
func facebook() *dialect {
	exchange := route{op: opToken, do: facebookToken}
	return &dialect{
		family: "facebook", name: "Facebook", authorize: "www.facebook.com/{version}/dialog/oauth",
		client: "client_id", secret: "client_secret", codeAs: "code", pkce: mayPKCE,
		denied: map[string][]string{
			"error": {"access_denied"}, "error_reason": {"user_denied"},
			"error_description": {"Permissions error"},
		},
		access: metaShort, first: kindShort, siblings: true, refuse: graphRefuse,
		routes: map[string]route{
			"GET graph.facebook.com/{version}/oauth/access_token":  exchange,
			"POST graph.facebook.com/{version}/oauth/access_token": exchange,
			"GET graph.facebook.com/{version}/me":                  provenRoute(nil, facebookMe),
			"GET graph.facebook.com/{version}/me/accounts": provenRoute([]string{"pages_show_list"},
				facebookPages),
			"GET graph.facebook.com/{version}/me/adaccounts": provenRoute([]string{
				"ads_read",
				"ads_management",
			},
				facebookAds),
			"GET graph.facebook.com/{version}/me/permissions": provenRoute(nil, facebookPermissions),
			"DELETE graph.facebook.com/{version}/me/permissions": {
				op: opRevoke,
				do: provenRoute(nil, facebookRevoke).do,
			},
		},
	}
}

// provenRoute is like loginRoute, and requires the proof that the application with the secret uses the token.
func provenRoute(scope []string, do func(*call, *login) *answer) route {
	return loginRoute(scope, func(c *call, l *login) *answer {
		_, secret := Client(c.d.family)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer ")))
		if c.param("appsecret_proof") != hex.EncodeToString(mac.Sum(nil)) {
			return &answer{status: http.StatusBadRequest, body: map[string]any{"error": map[string]any{
				"message": "Invalid appsecret_proof provided in the API argument", "type": "GraphMethodException",
				"code": 100, "fbtrace_id": "sandbox",
			}}}
		}

		return do(c, l)
	})
}

// facebookToken redeems codes for short-lived tokens, and exchanges valid tokens for long-lived ones.
func facebookToken(c *call) *answer {
	if why := c.checkClient(); why != "" {
		return c.d.refuse(why)
	}

	if c.param("grant_type") == "fb_exchange_token" {
		return c.exchangeLongLived(c.param("fb_exchange_token"), kindShort, kindAccess)
	}

	l, why := c.redeemCode()
	if why != "" {
		return c.d.refuse(why)
	}

	return success(map[string]any{
		"access_token": l.Access, "token_type": "bearer",
		"expires_in": c.tx.secondsUntil(l.AccessEnd),
	})
}

// exchangeLongLived returns a long-lived token for a valid one of the given kinds, which stays valid. A long-lived
// token is renewed.
func (c *call) exchangeLongLived(raw string, kinds ...string) *answer {
	l, t := c.tx.findHolder(raw)
	if l == nil || l.Family != c.d.family || !slices.Contains(kinds, t.Kind) {
		return c.d.refuse(badAccess)
	}

	renewal := t.Kind != kindShort
	if renewal {
		l.Requests++
	}

	defer c.tx.saveLogin(l)

	if _, why := c.livingLogin(raw); why != "" {
		return c.d.refuse(why)
	}

	k := c.tx.knobsOf(c.d.family)
	if renewal && c.d.family == "instagram" &&
		c.tx.now.Before(t.MadeAt.Add(k.MinAge.orDefault(24*time.Hour))) {
		return c.d.refuse(tooYoung)
	}

	if renewal {
		l.Refreshes++
	}

	l.AccessEnd = c.tx.expiryAfter(k.Lifetime.orDefault(metaLong))
	l.Access = c.tx.issueToken(l, kindAccess, l.AccessEnd)
	body := map[string]any{"access_token": l.Access, "token_type": "bearer"}
	if l.AccessEnd != nil && !k.NoExpiresIn {
		body["expires_in"] = c.tx.secondsUntil(l.AccessEnd)
	}

	return success(body)
}

func facebookMe(_ *call, l *login) *answer {
	return success(map[string]any{
		"id": l.Subject, "name": l.Person,
		"picture": graphPicture(l.Person),
	})
}

func graphPicture(name string) map[string]any {
	return map[string]any{"data": map[string]any{
		"url": avatarURL(name), "width": 50, "height": 50,
		"is_silhouette": false,
	}}
}

func facebookPages(c *call, l *login) *answer {
	return graphPage(c, c.accountsReached(l, "page"), func(t thing) map[string]any {
		page := TokenMark + "-page-" + hashedID(l.ID + l.Access + t.ID)[:32]
		writeRow(c.tx, "token", hashedID(page),
			&issuedToken{Login: l.ID, Kind: kindPage, MadeAt: l.MadeAt})
		return map[string]any{
			"id": t.ID, "name": t.Name, "access_token": page, "picture": graphPicture(t.Name),
			"tasks": []string{"MANAGE", "CREATE_CONTENT"},
		}
	})
}

func facebookAds(c *call, l *login) *answer {
	return graphPage(c, c.accountsReached(l, "ads"), func(t thing) map[string]any {
		return map[string]any{"id": t.ID, "name": t.Name}
	})
}

// graphPage returns one page of a list, with a cursor and an address if there is a next page.
func graphPage(c *call, all []thing, show func(thing) map[string]any) *answer {
	size := min(max(c.numberOr("limit", 25), 1), 100)
	part, next := pageFrom(all, c.numberOr("after", 0), size)
	data := []map[string]any{}
	for _, t := range part {
		data = append(data, show(t))
	}

	body := map[string]any{"data": data}
	if len(part) > 0 {
		paging := map[string]any{"cursors": map[string]any{
			"before": c.param("after"),
			"after":  strconv.Itoa(c.numberOr("after", 0) + len(part)),
		}}
		if next >= 0 {
			paging["next"] = "https://" + strings.TrimPrefix(c.r.URL.Path, Path) + "?after=" + strconv.Itoa(next)
		}

		body["paging"] = paging
	}

	return success(body)
}

func facebookPermissions(_ *call, l *login) *answer {
	granted := []map[string]any{}
	for _, scope := range l.Scopes {
		granted = append(granted, map[string]any{"permission": scope, "status": "granted"})
	}
	return success(map[string]any{"data": granted})
}

func facebookRevoke(c *call, l *login) *answer {
	c.tx.endLogin(c.d, l)
	return success(map[string]any{"success": true})
}

// instagram returns the dialect of Instagram's business login.
func instagram() *dialect {
	return &dialect{
		family: "instagram", name: "Instagram", authorize: "www.instagram.com/oauth/authorize", client: "client_id",
		secret: "client_secret", codeAs: "code",
		denied: map[string][]string{
			"error": {"access_denied"}, "error_reason": {"user_denied"},
			"error_description": {"The user denied your request"},
		},
		access: metaShort, first: kindShort, refuse: graphRefuse,
		routes: map[string]route{
			"POST api.instagram.com/oauth/access_token":    {op: opToken, do: instagramToken},
			"GET graph.instagram.com/access_token":         {op: opToken, do: instagramExchange},
			"GET graph.instagram.com/refresh_access_token": {op: opToken, do: instagramExtend},
			"GET graph.instagram.com/{version}/me": loginRoute([]string{"instagram_business_basic"},
				instagramMe),
		},
	}
}

// instagramToken serves the token endpoint, which has its own error format.
func instagramToken(c *call) *answer {
	why := c.checkClient()
	var l *login
	if why == "" {
		l, why = c.redeemCode()
	}

	if why != "" {
		said := map[refusal]string{
			badClient:   "Invalid platform app",
			badRedirect: "Error validating verification code. Please make sure your redirect_uri is identical",
		}[why]
		if said == "" {
			said = "Invalid authorization code"
		}

		return &answer{
			status: http.StatusBadRequest,
			body:   map[string]any{"error_type": "OAuthException", "code": 400, "error_message": said},
		}
	}

	id, _ := strconv.ParseInt(l.Subject, 10, 64)

	return success(map[string]any{"access_token": l.Access, "user_id": id, "permissions": l.Scopes})
}

func instagramExchange(c *call) *answer {
	if _, secret := Client(c.d.family); c.param("client_secret") != secret {
		return c.d.refuse(badClient)
	}

	if c.param("grant_type") != "ig_exchange_token" {
		return c.d.refuse(badGrant)
	}

	return c.exchangeLongLived(c.param("access_token"), kindShort)
}

func instagramExtend(c *call) *answer {
	if c.param("grant_type") != "ig_refresh_token" {
		return c.d.refuse(badGrant)
	}
	return c.exchangeLongLived(c.param("access_token"), kindAccess)
}

func instagramMe(_ *call, l *login) *answer {
	return success(map[string]any{
		"user_id": l.Subject, "username": userName(l.Person), "name": l.Person,
		"profile_picture_url": avatarURL(l.Person), "id": l.Subject,
	})
}
