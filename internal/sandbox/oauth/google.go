package oauth

import (
	"net/http"
	"time"
)

// google returns the dialect of Google accounts: YouTube, Gmail and Google Ads.
func google() *dialect {
	const youtube = "https://www.googleapis.com/auth/youtube"
	return &dialect{
		family: "google", name: "Google", authorize: "accounts.google.com/o/oauth2/v2/auth", client: "client_id",
		secret: "client_secret", codeAs: "code", pkce: mayPKCE,
		denied: map[string][]string{"error": {"access_denied"}},
		access: 3599 * time.Second, rotation: Fixed, siblings: true,
		grantsRefresh: func(c *code) bool { return c.Offline }, refuse: googleRefuse,
		routes: map[string]route{
			"POST oauth2.googleapis.com/token": tokenRoute(),
			"POST oauth2.googleapis.com/revoke": {
				op: opRevoke,
				do: googleRevoke,
			},
			"GET openidconnect.googleapis.com/v1/userinfo": loginRoute([]string{"openid"},
				googleMe),
			"GET www.googleapis.com/youtube/v3/channels": loginRoute([]string{
				youtube,
				youtube + ".readonly",
			}, youtubeChannels),
			"GET googleads.googleapis.com/{version}/customers:listAccessibleCustomers": loginRoute(
				[]string{"https://www.googleapis.com/auth/adwords"}, withDeveloperToken(googleCustomers)),
			"POST googleads.googleapis.com/{version}/customers/{id}/googleAds:search": loginRoute(
				[]string{"https://www.googleapis.com/auth/adwords"}, withDeveloperToken(googleCustomer)),
		},
	}
}

func googleRefuse(r refusal) *answer {
	api := func(status int, name, reason string) *answer {
		return &answer{status: status, body: map[string]any{"error": map[string]any{
			"code": status, "message": string(r), "status": name,
			"errors": []any{map[string]any{"message": string(r), "domain": "global", "reason": reason}},
		}}}
	}
	switch r {
	case badAccess, oldAccess, lostAccess:
		return api(http.StatusUnauthorized, "UNAUTHENTICATED", "authError")
	case noScope:
		return api(http.StatusForbidden, "PERMISSION_DENIED", "insufficientPermissions")
	case noDeveloper:
		a := api(http.StatusUnauthorized, "UNAUTHENTICATED", "")
		a.body.(map[string]any)["error"].(map[string]any)["details"] = []any{map[string]any{"errors": []any{
			map[string]any{
				"errorCode": map[string]any{"authenticationError": "DEVELOPER_TOKEN_INVALID"},
				"message":   string(r),
			},
		}}}
		return a
	case badRedirect:
		return &answer{
			status: http.StatusBadRequest,
			body:   map[string]any{"error": "redirect_uri_mismatch", "error_description": "Bad Request"},
		}
	case badRefresh:
		return &answer{
			status: http.StatusBadRequest,
			body:   map[string]any{"error": "invalid_grant", "error_description": "Token has been expired or revoked."},
		}
	default:
		return refuseStandard(r)
	}
}

// googleRevoke accepts either token, without client authentication.
func googleRevoke(c *call) *answer {
	l, _ := c.tx.findHolder(c.param("token"))
	if l == nil || l.Family != c.d.family || l.Dead != "" {
		return &answer{
			status: http.StatusBadRequest,
			body:   map[string]any{"error": "invalid_token", "error_description": "Token expired or revoked"},
		}
	}

	c.tx.endLogin(c.d, l)

	return success(map[string]any{})
}

// youtubeChannels returns the one channel that was chosen at consent: the first.
func youtubeChannels(c *call, l *login) *answer {
	items := []map[string]any{}
	for _, t := range c.accountsReached(l, "channel") {
		items = append(items, map[string]any{"id": t.ID, "kind": "youtube#channel", "snippet": map[string]any{
			"title": t.Name,
			"thumbnails": map[string]any{"default": map[string]any{
				"url":   avatarURL(t.Name),
				"width": 88, "height": 88,
			}},
		}})
	}

	return success(map[string]any{
		"kind":  "youtube#channelListResponse",
		"items": items[:min(len(items), 1)],
	})
}

// withDeveloperToken requires a developer token, of any value.
func withDeveloperToken(do func(*call, *login) *answer) func(*call, *login) *answer {
	return func(c *call, l *login) *answer {
		if c.r.Header.Get("Developer-Token") == "" {
			return c.d.refuse(noDeveloper)
		}
		return do(c, l)
	}
}

func googleCustomers(c *call, l *login) *answer {
	names := []string{}
	for _, t := range c.accountsReached(l, "ads") {
		names = append(names, "customers/"+t.ID)
	}
	return success(map[string]any{"resourceNames": names})
}

func googleCustomer(c *call, l *login) *answer {
	rows := []map[string]any{}
	for _, t := range c.accountsReached(l, "ads") {
		if t.ID == c.r.PathValue("id") {
			rows = append(rows,
				map[string]any{"customer": map[string]any{
					"resourceName":    "customers/" + t.ID,
					"descriptiveName": t.Name,
				}})
		}
	}

	return success(map[string]any{"results": rows})
}
