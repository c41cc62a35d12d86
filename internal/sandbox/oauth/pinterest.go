package oauth

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pinterest returns the dialect of Pinterest, with continuous refresh tokens.
func pinterest() *dialect {
	return &dialect{
		family: "pinterest", name: "Pinterest", authorize: "www.pinterest.com/oauth/{$}", client: "client_id",
		secret: "client_secret", basic: true, codeAs: "code",
		denied: map[string][]string{"error": {"access_denied"}},
		access: 2592000 * time.Second, refresh: 5184000 * time.Second, rotation: Single,
		grantsRefresh: func(*code) bool { return true }, refuse: pinterestRefuse,
		routes: map[string]route{
			"POST api.pinterest.com/v5/oauth/token": tokenRoute(),
			"GET api.pinterest.com/v5/user_account": loginRoute([]string{"user_accounts:read"},
				pinterestMe),
			"GET api.pinterest.com/v5/ad_accounts": loginRoute([]string{"ads:read"}, pinterestAds),
		},
	}
}

func pinterestRefuse(r refusal) *answer {
	said := func(status, code int, message string) *answer {
		return &answer{status: status, body: map[string]any{"code": code, "message": message}}
	}
	switch r {
	case badClient:
		return said(http.StatusUnauthorized, 2, "Authentication failed.")
	case badRefresh:
		return said(http.StatusUnauthorized, 283, "The provided refresh token is invalid.")
	case badCode, badRedirect:
		return said(http.StatusBadRequest, 283, "The authorization grant is invalid")
	case badAccess, oldAccess, lostAccess:
		return said(http.StatusUnauthorized, 2, "Authentication failed.")
	case noScope:
		return said(http.StatusForbidden, 29, "You are not permitted to access that resource.")
	default:
		return said(http.StatusBadRequest, 1, string(r))
	}
}

func pinterestMe(_ *call, l *login) *answer {
	return success(map[string]any{
		"id": l.Subject, "account_type": "BUSINESS", "username": userName(l.Person),
		"business_name": l.Person, "profile_image": avatarURL(l.Person),
	})
}

func pinterestAds(c *call, l *login) *answer {
	part, next := pageFrom(c.accountsReached(l, "ads"), c.numberOr("bookmark", 0),
		min(max(c.numberOr("page_size", 25), 1), 250))
	items := []map[string]any{}
	for _, t := range part {
		items = append(items, map[string]any{"id": t.ID, "name": t.Name, "currency": "USD"})
	}

	body := map[string]any{"items": items, "bookmark": nil}
	if next >= 0 {
		body["bookmark"] = strconv.Itoa(next)
	}

	return success(body)
}

// joinList formats a list as TikTok and Pinterest do.
func joinList(list []string) string { return strings.Join(list, ",") }
