package provider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Logins whose access token opens a mailbox by SMTP and IMAP, with XOAUTH2. The account is the person's mailbox; its
// display name is the address.

// gmail returns the spec for a person's Gmail mailbox. Google has one scope for SMTP and IMAP together.
func gmail() Spec {
	s := googleApp()
	s.Platform, s.Name, s.Kind = "gmail", "Gmail", Social
	const auth = "https://www.googleapis.com/auth/"
	s.Scopes = []string{"openid", auth + "userinfo.profile", auth + "userinfo.email", "https://mail.google.com/"}
	s.Needed = []string{"https://mail.google.com/"}
	s.Dialect.Login = gmailLogin
	return s
}

func gmailLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	var me struct {
		claims
		Picture string `json:"picture"`
	}
	if err := p.Get(ctx, t, googleUserinfo, nil, nil, &me); err != nil {
		return Login{}, nil, err
	}
	return p.mailbox(me.claims, me.Picture)
}

// claims are the members of OpenID Connect's userinfo and ID tokens that name a person.
type claims struct {
	Subject  text   `json:"sub"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	Username string `json:"preferred_username"` // at Microsoft usually the address
}

// mailbox returns the login of a platform where the person's mailbox is the account.
func (p *Provider) mailbox(c claims, picture string) (Login, []Account, error) {
	login, accounts, err := p.one(Account{
		ExternalID: string(c.Subject), DisplayName: named(c.Email, c.Username, c.Name), AvatarURL: picture,
	})
	login.Name = named(c.Name, login.Name)
	return login, accounts, err
}

// NoIDToken is the code of a login without an ID token that says whose it is: only a new login helps.
const NoIDToken = "no_id_token"

const microsoftLogin = "https://login.microsoftonline.com/common/oauth2/v2.0/"

// outlook returns the spec for a person's mailbox at Microsoft 365 or outlook.com. Its access token is for the mail
// servers alone, so the person is named by the ID token that comes with it. A refresh may issue another refresh
// token, and the old one stays valid. There is no revocation.
func outlook() Spec {
	const servers = "https://outlook.office.com/"
	return Spec{
		Platform: "outlook", Name: "Outlook", Kind: Social, Family: "microsoft",
		AuthURL: microsoftLogin + "authorize", TokenURL: microsoftLogin + "token",
		Scopes: []string{
			"openid", "profile", "email", "offline_access", servers + "SMTP.Send", servers + "IMAP.AccessAsUser.All",
		},
		Needed:     []string{servers + "SMTP.Send", servers + "IMAP.AccessAsUser.All"},
		AuthParams: url.Values{"prompt": {"select_account"}}, PKCE: S256,
		Renewal: ByRefreshToken, Lifetime: time.Hour, RefreshLifetime: 90 * 24 * time.Hour,
		Rate: 20, Burst: 20,
		Dialect: Dialect{Exchange: microsoftExchange, Login: outlookLogin, Judge: microsoftJudge},
	}
}

// microsoftExchange is the standard exchange, and reads the ID token of the response. It comes from the token endpoint
// itself, so its signature need not be verified (OpenID Connect Core, section 3.1.3.7).
func microsoftExchange(ctx context.Context, p *Provider, c Code) (Token, error) {
	issued := p.now()
	r, err := p.send(ctx, p.asClient(ask{
		op: Exchanging, method: http.MethodPost, address: p.TokenURL, form: codeForm(p, c),
	}))
	if err != nil {
		return Token{}, err
	}
	t, err := p.granted(r, issued)
	if err != nil {
		return Token{}, err
	}
	var said struct {
		IDToken string `json:"id_token"`
	}
	_ = json.Unmarshal(r.Body, &said) // granted has parsed it
	var who claims
	if parts := strings.Split(said.IDToken, "."); len(parts) == 3 {
		if raw, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(raw, &who) // Login reports the lack of a subject
		}
	}
	t.Subject, t.Name, t.Email = string(who.Subject), who.Name, named(who.Email, who.Username)
	return t, nil
}

func outlookLogin(_ context.Context, p *Provider, t Token) (Login, []Account, error) {
	if t.Subject == "" { // the response to the code is gone, so a retry would find the same
		return Login{}, nil, &Error{Class: Dead, Platform: p.Platform, Code: NoIDToken, Status: http.StatusOK}
	}
	return p.mailbox(claims{Subject: text(t.Subject), Name: t.Name, Email: t.Email}, "")
}

// microsoftJudge classifies the errors of the token endpoint that RFC 6749 does not name.
func microsoftJudge(r Reply) (Class, string) {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return "", ""
	}
	switch said.Error {
	case "interaction_required", "consent_required", "login_required":
		return Dead, said.Error
	case "invalid_resource":
		return Misconfigured, said.Error
	}
	return "", ""
}
