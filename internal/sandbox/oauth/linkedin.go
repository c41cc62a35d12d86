package oauth

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// linkedin returns the dialect of LinkedIn's members, organizations and ad accounts.
func linkedin() *dialect {
	member := []string{"openid"}
	return &dialect{
		family: "linkedin", name: "LinkedIn", authorize: "www.linkedin.com/oauth/v2/authorization",
		client: "client_id", secret: "client_secret", codeAs: "code",
		denied: map[string][]string{
			"error":             {"user_cancelled_authorize"},
			"error_description": {"The user cancelled the authorization"},
		},
		access: 5184000 * time.Second, refresh: 31536000 * time.Second, absolute: true, rotation: Fixed, repeats: true,
		grantsRefresh: func(*code) bool { return true }, refuse: linkedinRefuse,
		routes: map[string]route{
			"POST www.linkedin.com/oauth/v2/accessToken": tokenRoute(),
			"POST www.linkedin.com/oauth/v2/revoke":      revokeRoute("token"),
			"GET api.linkedin.com/v2/userinfo":           loginRoute(member, openidMe),
			"GET api.linkedin.com/rest/organizationAcls": loginRoute([]string{
				"rw_organization_admin",
				"r_organization_social",
			}, withVersionHeader(linkedinPages)),
			"GET api.linkedin.com/rest/organizations": loginRoute([]string{"rw_organization_admin"},
				withVersionHeader(linkedinOrganizations)),
			"GET api.linkedin.com/rest/adAccounts": loginRoute([]string{"r_ads", "rw_ads"},
				withVersionHeader(linkedinAds)),
		},
	}
}

func linkedinRefuse(r refusal) *answer {
	service := func(status, code int, name string) *answer {
		return &answer{
			status: status,
			body:   map[string]any{"status": status, "serviceErrorCode": code, "code": name, "message": string(r)},
		}
	}
	switch r {
	case badAccess:
		return service(http.StatusUnauthorized, 65600, "INVALID_ACCESS_TOKEN")
	case lostAccess:
		return service(http.StatusUnauthorized, 65601, "REVOKED_ACCESS_TOKEN")
	case oldAccess:
		return service(http.StatusUnauthorized, 65602, "EXPIRED_ACCESS_TOKEN")
	case noScope:
		return service(http.StatusForbidden, 100, "ACCESS_DENIED")
	default:
		return refuseStandard(r)
	}
}

// openidMe serves a userinfo endpoint.
func openidMe(_ *call, l *login) *answer {
	return success(map[string]any{
		"sub": l.Subject, "name": l.Person, "picture": avatarURL(l.Person),
		"given_name": firstName(l.Person),
	})
}

// linkedinPages returns a row for each role in each organization, including an analyst's role, which may not post for
// it.
func linkedinPages(c *call, l *login) *answer {
	type role struct {
		thing
		role string
	}
	var all []role
	for i, t := range c.accountsReached(l, "page") {
		all = append(all, role{t, "ADMINISTRATOR"})
		if i == 0 {
			all = append(all, role{t, "CONTENT_ADMINISTRATOR"})
		}
	}

	all = append(all, role{thing{ID: "99", Name: "Only analysed"}, "ANALYST"})
	part, _ := pageFrom(all, c.numberOr("start", 0), min(max(c.numberOr("count", 10), 1), 100))
	rows := []map[string]any{}
	for _, r := range part {
		rows = append(rows, map[string]any{
			"role": r.role, "state": "APPROVED", "roleAssignee": "urn:li:person:" + l.Subject,
			"organization": "urn:li:organization:" + r.ID,
		})
	}

	return success(map[string]any{
		"elements": rows,
		"paging":   map[string]any{"start": c.numberOr("start", 0), "count": len(rows)},
	})
}

// withVersionHeader returns a route below /rest, which requires the API version header.
func withVersionHeader(do func(*call, *login) *answer) func(*call, *login) *answer {
	return func(c *call, l *login) *answer {
		if c.r.Header.Get("Linkedin-Version") == "" {
			return &answer{
				status: http.StatusBadRequest,
				body: map[string]any{
					"status": 400, "code": "VERSION_MISSING",
					"message": "A version must be present. Please specify a version by adding the LinkedIn-Version " +
						"header.",
				},
			}
		}

		return do(c, l)
	}
}

// linkedinOrganizations returns the names of a list of organizations in Rest.li's format, with unescaped brackets and
// commas.
func linkedinOrganizations(c *call, l *login) *answer {
	list, is := strings.CutPrefix(c.r.URL.RawQuery, "ids=List(")
	if !is || !strings.HasSuffix(list, ")") {
		return &answer{
			status: http.StatusBadRequest,
			body:   map[string]any{"status": 400, "code": "ILLEGAL_ARGUMENT", "message": "ids must be a list"},
		}
	}

	results := map[string]any{}
	for _, t := range c.accountsReached(l, "page") {
		if slices.Contains(strings.Split(strings.TrimSuffix(list, ")"), ","), t.ID) {
			id, _ := strconv.ParseInt(t.ID, 10, 64)
			results[t.ID] = map[string]any{"id": id, "localizedName": t.Name}
		}
	}

	return success(map[string]any{
		"results": results, "statuses": map[string]any{},
		"errors": map[string]any{},
	})
}

func linkedinAds(c *call, l *login) *answer {
	part, next := pageFrom(c.accountsReached(l, "ads"), c.numberOr("pageToken", 0),
		min(max(c.numberOr("pageSize", 100), 1), 1000))
	rows := []map[string]any{}
	for _, t := range part {
		id, _ := strconv.ParseInt(t.ID, 10, 64)
		rows = append(rows, map[string]any{"id": id, "name": t.Name, "status": "ACTIVE"})
	}

	metadata := map[string]any{}
	if next >= 0 {
		metadata["nextPageToken"] = strconv.Itoa(next)
	}

	return success(map[string]any{"elements": rows, "metadata": metadata})
}
