package oauth

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"
)

// mailOf returns the address of a person's mailbox at a family.
func mailOf(family, person string) string {
	host := map[string]string{"google": "gmail", "microsoft": "outlook"}[family]
	return userName(person) + "@" + host + ".sandbox.example"
}

// googleMe serves the userinfo endpoint. The address needs its own scope.
func googleMe(c *call, l *login) *answer {
	a := openidMe(c, l)
	if slices.Contains(l.Scopes, "https://www.googleapis.com/auth/userinfo.email") {
		if body, ok := a.body.(map[string]any); ok {
			body["email"] = mailOf("google", l.Person)
			body["email_verified"] = true
		}
	}

	return a
}

// microsoft returns the dialect of Microsoft accounts: Outlook. A refresh token stays valid when it is used. Microsoft
// may issue another one beside it; the sandbox repeats it.
func microsoft() *dialect {
	const login = "login.microsoftonline.com/common/oauth2/v2.0/"
	return &dialect{
		family: "microsoft", name: "Microsoft", authorize: login + "authorize", client: "client_id",
		secret: "client_secret", codeAs: "code", pkce: mayPKCE,
		denied: map[string][]string{"error": {"access_denied"}},
		access: 3599 * time.Second, refresh: 90 * 24 * time.Hour, rotation: Fixed, repeats: true,
		grantsRefresh: func(c *code) bool { return slices.Contains(c.Scopes, "offline_access") },
		refuse:        refuseStandard,
		routes:        map[string]route{"POST " + login + "token": microsoftToken()},
	}
}

// microsoftToken serves the token endpoint, whose responses name no lifetime of the refresh token, and name the person
// in an ID token.
func microsoftToken() route {
	plain := tokenRoute()
	return route{op: plain.op, do: func(c *call) *answer {
		a := plain.do(c)
		body, is := a.body.(map[string]any)
		access, has := body["access_token"].(string)
		if !is || !has {
			return a
		}

		delete(body, "refresh_token_expires_in")
		if l, _ := c.tx.findHolder(access); l != nil && slices.Contains(l.Scopes, "openid") {
			body["id_token"] = idToken(map[string]any{
				"iss": "https://login.microsoftonline.com/sandbox/v2.0", "aud": c.param("client_id"), "sub": l.Subject,
				"name": l.Person, "preferred_username": mailOf("microsoft", l.Person),
			})
		}

		return a
	}}
}

// idToken returns a JWT with the claims and a signature that nobody can verify.
func idToken(claims map[string]any) string {
	part := func(v any) string {
		raw, _ := json.Marshal(v) // strings only
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	return part(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." + part(claims) + ".c2FuZGJveA"
}
