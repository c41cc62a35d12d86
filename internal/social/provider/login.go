package provider

import "net/http"

// one returns the login of a platform where the person is the account.
func (p *Provider) one(a Account) (Login, []Account, error) {
	if a.ExternalID == "" {
		return Login{}, nil, &Error{Class: Transient, Platform: p.Platform, Code: "no_id", Status: http.StatusOK}
	}
	return Login{Subject: a.ExternalID, Name: a.DisplayName, AvatarURL: a.AvatarURL}, []Account{a}, nil
}

// several returns the login of a platform where the person reaches other accounts.
func (p *Provider) several(who Login, accounts []Account) (Login, []Account, error) {
	if who.Subject == "" {
		return Login{}, nil, &Error{Class: Transient, Platform: p.Platform, Code: "no_id", Status: http.StatusOK}
	}
	return who, accounts, nil
}

// named returns the first name that is not blank.
func named(names ...string) string {
	for _, n := range names {
		if n != "" && n != "@" {
			return n
		}
	}
	return ""
}
