package provider

import "time"

// Token holds what a provider granted to one login.
type Token struct {
	// Access is the access token. With OAuth 1.0a it is the token together with its secret: see Signed.
	Access  Secret
	Refresh Secret // "" if the provider issues none
	// IssuedAt is our clock just before the request was sent, so that a lifetime counted from it never ends too late.
	IssuedAt time.Time
	// ExpiresAt is the expiry of Access; nil: it does not expire.
	ExpiresAt *time.Time
	// RefreshExpiresAt is the expiry of Refresh; nil: none is known.
	RefreshExpiresAt *time.Time
	// Scopes are the granted scopes, or the requested ones if the response names none.
	Scopes []string
	// Subject is the person's id if the provider states it only with the token, otherwise "". Login of such a provider
	// needs it, and Name and Email, which are set with it if the provider states them.
	Subject     string
	Name, Email string
	// LifetimeAssumed means that the response stated no lifetime of Access and the provider's usual one was assumed.
	// Callers should count it, since an operator has to check it.
	LifetimeAssumed bool
}

// KeepRefreshOf returns t with the refresh token of old and its expiry, if t has none. Refresh does this itself; a
// reconnected login needs it, since some providers issue a refresh token only the first time.
func (t Token) KeepRefreshOf(old Token) Token {
	switch {
	case t.Refresh == "":
		t.Refresh, t.RefreshExpiresAt = old.Refresh, old.RefreshExpiresAt
	case t.Refresh == old.Refresh && t.RefreshExpiresAt == nil:
		t.RefreshExpiresAt = old.RefreshExpiresAt
	}
	return t
}

// Lifetime returns how long Access lives from its issue; 0 if it does not expire.
func (t Token) Lifetime() time.Duration {
	if t.ExpiresAt == nil {
		return 0
	}
	return t.ExpiresAt.Sub(t.IssuedAt)
}

// Login is the person who consented. Subject is the provider's stable id of the person, within the client id.
type Login struct {
	Subject   string
	Name      string
	AvatarURL string
	// Scopes are the granted scopes, if the provider states them only here; nil: those of the token.
	Scopes []string
	// Cut means that the login reaches more accounts than the MaxAccounts that are listed.
	Cut bool
}

// Account is an account that a login can act for: a profile, page, organization, channel or ad account.
type Account struct {
	ExternalID  string // as the provider writes it
	DisplayName string
	AvatarURL   string
	// Token is the account's own token, as Facebook pages have one; "" if the login's is used.
	Token Secret
}
