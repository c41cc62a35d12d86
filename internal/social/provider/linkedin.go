package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	linkedinAPI = "https://api.linkedin.com"
	// LinkedInVersion is the tested version, by month, of the API; each version is served for a year.
	LinkedInVersion = "202607"
)

// linkedinApp returns the common part of LinkedIn's three specs. LinkedIn grants its Community Management API only to
// applications without another product, so pages and ads may each have their own application; without one they use the
// profile's. Only approved partners get refresh tokens, and those expire a year after the login, however often they are
// used.
func linkedinApp() Spec {
	return Spec{
		Family: "linkedin", Version: LinkedInVersion,
		AuthURL:   "https://www.linkedin.com/oauth/v2/authorization",
		TokenURL:  "https://www.linkedin.com/oauth/v2/accessToken",
		RevokeURL: "https://www.linkedin.com/oauth/v2/revoke",
		Renewal:   ByRefreshToken, Lifetime: 60 * 24 * time.Hour, RefreshLifetime: 365 * 24 * time.Hour,
		Rate: 5, Burst: 5,
		Dialect: Dialect{Revoke: revokeAccess, Judge: linkedinJudge},
	}
}

// linkedin returns the spec for a person's profile.
func linkedin() Spec {
	s := linkedinApp()
	s.Platform, s.Name, s.Kind = "linkedin", "LinkedIn", Social
	s.Scopes = []string{"openid", "profile", "w_member_social"}
	s.Needed = []string{"w_member_social"}
	s.Dialect.Login = linkedinLogin
	return s
}

// linkedinPage returns the spec for the organizations that a person administers.
func linkedinPage() Spec {
	s := linkedinApp()
	s.Platform, s.Name, s.Kind, s.Several = "linkedin_page", "LinkedIn Page", Social, true
	s.Family, s.Instead = "linkedin_page", "linkedin"
	s.Scopes = []string{"openid", "profile", "r_organization_social", "w_organization_social", "rw_organization_admin"}
	s.Needed = []string{"w_organization_social"}
	s.Dialect.Login = linkedinPageLogin
	return s
}

// linkedinAds returns the spec for the ad accounts in which a person has a role.
func linkedinAds() Spec {
	s := linkedinApp()
	s.Platform, s.Name, s.Kind, s.Several = "linkedin_ads", "LinkedIn Ads", Ads, true
	s.Family, s.Instead = "linkedin_ads", "linkedin"
	s.Scopes = []string{"openid", "profile", "r_ads", "rw_ads", "r_ads_reporting"}
	s.Needed = []string{"r_ads"}
	s.Dialect.Login = linkedinAdsLogin
	return s
}

func linkedinLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := openidLogin(ctx, p, t, linkedinAPI+"/v2/userinfo")
	if err != nil {
		return Login{}, nil, err
	}
	return p.one(Account{ExternalID: who.Subject, DisplayName: who.Name, AvatarURL: who.AvatarURL})
}

// administers holds the roles that may post for an organization.
var administers = map[string]bool{"ADMINISTRATOR": true, "CONTENT_ADMINISTRATOR": true}

func linkedinPageLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := openidLogin(ctx, p, t, linkedinAPI+"/v2/userinfo")
	if err != nil {
		return Login{}, nil, err
	}
	var accounts []Account
	seen := map[string]bool{}
	const size = 100
	for start := 0; ; start += size {
		var page struct {
			Elements []struct {
				Role string `json:"role"`
				URN  string `json:"organization"`
			} `json:"elements"`
		}
		err := p.Get(ctx, t, linkedinAPI+"/rest/organizationAcls", url.Values{
			"q": {"roleAssignee"}, "state": {"APPROVED"}, "start": {strconv.Itoa(start)}, "count": {strconv.Itoa(size)},
		}, p.linkedinHeader(), &page)
		if err != nil {
			return Login{}, nil, err
		}
		from := len(accounts)
		for _, e := range page.Elements {
			id := e.URN[strings.LastIndex(e.URN, ":")+1:]
			if !administers[e.Role] || id == "" || seen[id] { // an organization has one row for each role
				continue
			}
			seen[id] = true
			accounts = append(accounts, Account{ExternalID: id, DisplayName: id})
		}
		if err := p.organizations(ctx, t, accounts[from:]); err != nil {
			return Login{}, nil, err
		}
		if len(page.Elements) < size {
			return p.several(who, accounts)
		}
		if len(accounts) >= MaxAccounts || start >= 10*MaxAccounts {
			who.Cut = true
			return p.several(who, accounts)
		}
	}
}

// organizations sets the names of organizations, which the list of roles lacks. If the application may not read them,
// the organizations are shown by number. Logos are left out, since their addresses expire.
func (p *Provider) organizations(ctx context.Context, t Token, accounts []Account) error {
	if len(accounts) == 0 {
		return nil
	}
	ids := make([]string, len(accounts))
	for i, a := range accounts {
		ids[i] = url.QueryEscape(a.ExternalID)
	}
	var found struct {
		Results map[string]struct {
			Name string `json:"localizedName"`
		} `json:"results"`
	}
	// Rest.li requires the list's brackets and commas unescaped.
	err := p.Get(ctx, t, linkedinAPI+"/rest/organizations?ids=List("+strings.Join(ids, ",")+")", nil,
		p.linkedinHeader(), &found)
	if c := ClassOf(err); c == Dead || c == Misconfigured {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range accounts {
		accounts[i].DisplayName = named(found.Results[accounts[i].ExternalID].Name, accounts[i].ExternalID)
	}
	return nil
}

func linkedinAdsLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := openidLogin(ctx, p, t, linkedinAPI+"/v2/userinfo")
	if err != nil {
		return Login{}, nil, err
	}
	var accounts []Account
	for next := ""; ; {
		var page struct {
			Elements []struct {
				ID   json.Number `json:"id"`
				Name string      `json:"name"`
			} `json:"elements"`
			Metadata struct {
				Next string `json:"nextPageToken"`
			} `json:"metadata"`
		}
		q := url.Values{"q": {"search"}, "pageSize": {"500"}}
		if next != "" {
			q.Set("pageToken", next)
		}
		if err := p.Get(ctx, t, linkedinAPI+"/rest/adAccounts", q, p.linkedinHeader(), &page); err != nil {
			return Login{}, nil, err
		}
		for _, e := range page.Elements {
			if id := e.ID.String(); id != "" {
				accounts = append(accounts, Account{ExternalID: id, DisplayName: named(e.Name, id)})
			}
		}
		if page.Metadata.Next == "" || page.Metadata.Next == next {
			return p.several(who, accounts)
		}
		if next = page.Metadata.Next; len(accounts) >= MaxAccounts {
			who.Cut = true
			return p.several(who, accounts)
		}
	}
}

func (p *Provider) linkedinHeader() http.Header {
	return http.Header{"Linkedin-Version": {p.version()}, "X-Restli-Protocol-Version": {"2.0.0"}}
}

// linkedinJudge classifies the service codes of the APIs. An expired token is sometimes reported as invalid_request.
func linkedinJudge(r Reply) (Class, string) {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Service     int    `json:"serviceErrorCode"`
		Code        string `json:"code"`
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return "", ""
	}
	if said.Error == "invalid_request" && has(said.Description, "expired", "revoked", "not valid", "is invalid") &&
		has(said.Description, "refresh token", "authorization code", "access token") {
		return Dead, said.Error
	}
	if r.Status < 400 || said.Service == 0 {
		return "", ""
	}
	name := strconv.Itoa(said.Service)
	switch said.Service {
	case 65601: // revoked by the person
		return Dead, name
	case 65600, 65602, 65604, 65605: // invalid, expired or unusable
		return Stale, name
	}
	switch r.Status {
	case http.StatusForbidden:
		return Dead, named(said.Code, name)
	case http.StatusTooManyRequests:
		return Throttled, name
	}
	return "", ""
}
