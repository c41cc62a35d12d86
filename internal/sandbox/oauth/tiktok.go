package oauth

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// tiktok returns the dialect of TikTok's Login Kit.
func tiktok() *dialect {
	return &dialect{
		family: "tiktok", name: "TikTok", authorize: "www.tiktok.com/v2/auth/authorize/{$}", client: "client_key",
		secret: "client_secret", codeAs: "code", pkce: hexPKCE,
		denied: map[string][]string{"error": {"access_denied"}, "errCode": {"-2"}, "error_type": {"access_denied"}},
		access: 7200 * time.Second, refresh: 15552000 * time.Second, rotation: Strict,
		grantsRefresh: func(*code) bool { return true }, refuse: tiktokRefuse,
		routes: map[string]route{
			"POST open.tiktokapis.com/v2/oauth/token/{$}":  {op: opToken, do: tiktokToken},
			"POST open.tiktokapis.com/v2/oauth/revoke/{$}": revokeRoute("token"),
			"GET open.tiktokapis.com/v2/user/info/{$}": loginRoute([]string{"user.info.basic"},
				tiktokMe),
		},
	}
}

func tiktokRefuse(r refusal) *answer {
	api := func(status int, code string) *answer {
		return &answer{
			status: status,
			body: map[string]any{
				"data":  map[string]any{},
				"error": map[string]any{"code": code, "message": string(r), "log_id": "sandbox"},
			},
		}
	}
	switch r {
	case badAccess, oldAccess, lostAccess:
		return api(http.StatusUnauthorized, "access_token_invalid")
	case noScope:
		return api(http.StatusUnauthorized, "scope_not_authorized")
	case badVerifier:
		return &answer{
			status: http.StatusBadRequest,
			body: map[string]any{
				"error":             "invalid_request",
				"error_description": "Code verifier or code challenge is invalid.", "log_id": "sandbox",
			},
		}
	default:
		a := refuseStandard(r)
		if r == badClient {
			a.status = http.StatusOK // as observed
		}
		return a
	}
}

// tiktokToken serves the standard token endpoint, with TikTok's member names.
func tiktokToken(c *call) *answer {
	a := tokenRoute().do(c)
	body, is := a.body.(map[string]any)
	if !is || body["access_token"] == nil {
		return a
	}

	l, _ := c.tx.findHolder(body["access_token"].(string))
	body["open_id"] = l.Subject
	body["scope"] = joinList(l.Scopes)
	if left, has := body["refresh_token_expires_in"]; has {
		delete(body, "refresh_token_expires_in")
		body["refresh_expires_in"] = left
	}

	return a
}

func tiktokMe(_ *call, l *login) *answer {
	return success(map[string]any{
		"data": map[string]any{"user": map[string]any{
			"open_id": l.Subject,
			"union_id": digitsFrom(19, "union",
				l.Person), "display_name": l.Person, "username": userName(l.Person),
			"avatar_url": avatarURL(l.Person),
		}},
		"error": map[string]any{"code": "ok", "message": "", "log_id": "sandbox"},
	})
}

// tiktokAds returns the dialect of TikTok for Business. Every response has status 200.
func tiktokAds() *dialect {
	const api = "business-api.tiktok.com/open_api/v1.3"
	return &dialect{
		family: "tiktok_ads", name: "TikTok for Business", authorize: "business-api.tiktok.com/portal/auth",
		client: "app_id", secret: "secret", codeAs: "auth_code",
		denied: map[string][]string{"error": {"access_denied"}}, refuse: tiktokAdsRefuse,
		routes: map[string]route{
			"POST " + api + "/oauth2/access_token/{$}":  {op: opToken, do: tiktokAdsToken},
			"POST " + api + "/oauth2/revoke_token/{$}":  {op: opRevoke, do: tiktokAdsRevoke},
			"GET " + api + "/user/info/{$}":             loginRoute(nil, tiktokAdsMe),
			"GET " + api + "/oauth2/advertiser/get/{$}": loginRoute(nil, tiktokAdsList),
		},
	}
}

func tiktokAdsSay(code int, message string, data any) *answer {
	return success(map[string]any{
		"code": code, "message": message, "request_id": "sandbox",
		"data": data,
	})
}

func tiktokAdsRefuse(r refusal) *answer {
	code := map[refusal]int{
		badClient: 40101, badGrant: 40002, badCode: 40110, badRedirect: 40002, badAccess: 40105,
		oldAccess: 40102, lostAccess: 40105, noScope: 40001,
	}[r]
	if code == 0 {
		code = 40002
	}

	return tiktokAdsSay(code, string(r), map[string]any{})
}

func tiktokAdsToken(c *call) *answer {
	if why := c.checkClient(); why != "" {
		return c.d.refuse(why)
	}

	l, why := c.redeemCode()
	if why != "" {
		return c.d.refuse(why)
	}

	ids := []string{}
	for _, t := range c.accountsReached(l, "ads") {
		ids = append(ids, t.ID)
	}

	return tiktokAdsSay(0, "OK", map[string]any{"access_token": l.Access, "advertiser_ids": ids, "scope": []int{1, 4}})
}

func tiktokAdsRevoke(c *call) *answer {
	if why := c.checkClient(); why != "" {
		return c.d.refuse(why)
	}

	l, why := c.livingLogin(c.param("access_token"))
	if why != "" {
		return c.d.refuse(why)
	}

	c.tx.endLogin(c.d, l)

	return tiktokAdsSay(0, "OK", map[string]any{})
}

func tiktokAdsMe(_ *call, l *login) *answer {
	return tiktokAdsSay(0, "OK",
		map[string]any{
			"core_user_id": json.Number(l.Subject), "display_name": l.Person,
			"avatar_url": avatarURL(l.Person),
		})
}

func tiktokAdsList(c *call, l *login) *answer {
	if why := c.checkClient(); why != "" {
		return c.d.refuse(why)
	}

	rows := []map[string]any{}
	for _, t := range c.accountsReached(l, "ads") {
		rows = append(rows, map[string]any{"advertiser_id": t.ID, "advertiser_name": t.Name})
	}

	return tiktokAdsSay(0, "OK", map[string]any{"list": slices.Clip(rows)})
}
