package provider

import "time"

// Token is what a provider granted to one login.
type Token struct {
	Access  Secret
	Refresh Secret // "" where the provider grants none
	// IssuedAt is our clock just before the request left, so that a lifetime counted from it never ends too late.
	IssuedAt time.Time
	// ExpiresAt is of Access; nil: it does not end by itself.
	ExpiresAt *time.Time
	// RefreshExpiresAt is of Refresh; nil: it has no known end.
	RefreshExpiresAt *time.Time
	// Scopes are those granted, or those asked for where the answer names none.
	Scopes []string
	// LifetimeAssumed tells that the answer stated no lifetime of Access and the provider's usual one was taken:
	// count it, since someone has to look.
	LifetimeAssumed bool
}

// KeepRefreshOf answers t with the refresh token of old, and its end, where t has none. Refresh does it by itself;
// a login that is connected again does it by this, since some providers grant a refresh token only the first time.
func (t Token) KeepRefreshOf(old Token) Token {
	switch {
	case t.Refresh == "":
		t.Refresh, t.RefreshExpiresAt = old.Refresh, old.RefreshExpiresAt
	case t.Refresh == old.Refresh && t.RefreshExpiresAt == nil:
		t.RefreshExpiresAt = old.RefreshExpiresAt
	}
	return t
}

// Lifetime is how long Access lives from its issue; 0 where it does not end by itself.
func (t Token) Lifetime() time.Duration {
	if t.ExpiresAt == nil {
		return 0
	}
	return t.ExpiresAt.Sub(t.IssuedAt)
}

// Login is who consented: Subject is the provider's stable id of the person, within the client id that asked.
type Login struct {
	Subject   string
	Name      string
	AvatarURL string
	// Cut tells that the login reaches more accounts than are listed: there are MaxAccounts.
	Cut bool
}

// Account is something that a login can act for: a profile, page, organisation, channel or ad account.
type Account struct {
	ExternalID  string // as the provider writes it
	DisplayName string
	AvatarURL   string
	// Token is the account's own, as a Facebook page has one; "" where the login's is used.
	Token Secret
}
