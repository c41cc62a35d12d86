package oauth

import (
	"net/http"
	"slices"
	"time"
)

// xDialect returns the dialect of X.
func xDialect() *dialect {
	return &dialect{
		family: "x", name: "X", authorize: "x.com/i/oauth2/authorize", client: "client_id", secret: "client_secret",
		basic: true, codeAs: "code", pkce: mustPKCE,
		denied: map[string][]string{"error": {"access_denied"}},
		access: 7200 * time.Second, refresh: 182 * 24 * time.Hour, rotation: Strict,
		grantsRefresh: func(c *code) bool { return slices.Contains(c.Scopes, "offline.access") }, refuse: xRefuse,
		routes: map[string]route{
			"POST api.x.com/2/oauth2/token":  tokenRoute(),
			"POST api.x.com/2/oauth2/revoke": revokeRoute("token"),
			"GET api.x.com/2/users/me":       loginRoute([]string{"users.read"}, xMe),
		},
	}
}

func xRefuse(r refusal) *answer {
	said := func(status int, name, text string) *answer {
		return &answer{status: status, body: map[string]any{"error": name, "error_description": text}}
	}
	switch r {
	case badClient:
		return said(http.StatusUnauthorized, "unauthorized_client", "Missing valid authorization header")
	case badRefresh:
		return said(http.StatusBadRequest, "invalid_request", "Value passed for the token was invalid.")
	case badCode:
		return said(http.StatusBadRequest, "invalid_request", "Value passed for the authorization code was invalid.")
	case badVerifier:
		return said(http.StatusBadRequest, "invalid_request",
			"Value passed for the code verifier did not match the code challenge.")
	case badRedirect:
		return said(http.StatusBadRequest, "invalid_request",
			"Value passed for the redirect uri did not match the uri of the authorization code.")
	case badAccess, oldAccess, lostAccess:
		return &answer{
			status: http.StatusUnauthorized,
			body: map[string]any{
				"title": "Unauthorized", "type": "about:blank", "status": 401,
				"detail": "Unauthorized",
			},
		}
	case noScope:
		return &answer{
			status: http.StatusForbidden,
			body:   map[string]any{"title": "Forbidden", "type": "about:blank", "status": 403, "detail": "Forbidden"},
		}
	default:
		return refuseStandard(r)
	}
}

func xMe(_ *call, l *login) *answer {
	return success(map[string]any{"data": map[string]any{
		"id": l.Subject, "name": l.Person, "username": userName(l.Person),
		"profile_image_url": avatarURL(l.Person),
	}})
}
