package social

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Sealed fields of a grant.
const (
	fieldAccess  = "access"
	fieldRefresh = "refresh"
)

// Each ciphertext is bound to its table, org, row and field. Moved anywhere else, it does not open.
func grantAbout(org, grant id.ID, field string) string {
	return "grant|" + org.String() + "|" + grant.String() + "|" + field
}

func accountAbout(org, account id.ID) string {
	return "social_account|" + org.String() + "|" + account.String() + "|token"
}

func pendingAbout(org, pending id.ID) string {
	return "social_pending|" + org.String() + "|" + pending.String() + "|tokens"
}

func verifierAbout(org id.ID, hash []byte) string {
	return fmt.Sprintf("oauth_state|%s|%x|verifier", org, hash)
}

// sealTokens seals both tokens of a grant; refresh is nil if there is no refresh token.
func (s *Service) sealTokens(org, grant id.ID, t provider.Token) (access, refresh []byte, err error) {
	if access, err = s.Box.Seal([]byte(t.Access.Reveal()), grantAbout(org, grant, fieldAccess)); err != nil {
		return nil, nil, fmt.Errorf("seal access token: %w", err)
	}

	if t.Refresh != "" {
		if refresh, err = s.Box.Seal([]byte(t.Refresh.Reveal()), grantAbout(org, grant, fieldRefresh)); err != nil {
			return nil, nil, fmt.Errorf("seal refresh token: %w", err)
		}
	}

	return access, refresh, nil
}

// openTokens opens both tokens of a grant; a nil ciphertext yields "".
func (s *Service) openTokens(org, grant id.ID, access, refresh []byte) (a, r provider.Secret, err error) {
	for _, one := range []struct {
		sealed []byte
		field  string
		into   *provider.Secret
	}{{access, fieldAccess, &a}, {refresh, fieldRefresh, &r}} {
		if one.sealed == nil {
			continue
		}

		plain, err := s.Box.Open(one.sealed, grantAbout(org, grant, one.field))
		if err != nil {
			return "", "", fmt.Errorf("open %s token: %w", one.field, err)
		}

		*one.into = provider.Secret(plain)
	}

	return a, r, nil
}

// material is the content of a pending login that is sealed: the tokens of the login, and those of its accounts by
// external id. It is in plain text only between Box and the provider.
type material struct {
	Access           string            `json:"access"`
	Refresh          string            `json:"refresh,omitempty"`
	IssuedAt         time.Time         `json:"issued_at"`
	ExpiresAt        *time.Time        `json:"expires_at,omitempty"`
	RefreshExpiresAt *time.Time        `json:"refresh_expires_at,omitempty"`
	Assumed          bool              `json:"assumed,omitempty"`
	Subject          string            `json:"subject,omitempty"` // if the provider stated it with the token
	Name             string            `json:"name,omitempty"`    // as Subject
	Email            string            `json:"email,omitempty"`   // as Subject
	Own              map[string]string `json:"own,omitempty"`
}

func materialOf(t provider.Token, accounts []provider.Account) material {
	m := material{
		Access: t.Access.Reveal(), Refresh: t.Refresh.Reveal(), IssuedAt: t.IssuedAt, ExpiresAt: t.ExpiresAt,
		RefreshExpiresAt: t.RefreshExpiresAt, Assumed: t.LifetimeAssumed, Subject: t.Subject,
		Name: t.Name, Email: t.Email,
	}
	for _, a := range accounts {
		if a.Token != "" {
			if m.Own == nil {
				m.Own = map[string]string{}
			}
			m.Own[a.ExternalID] = a.Token.Reveal()
		}
	}

	return m
}

func (m material) asToken(scopes []string) provider.Token {
	return provider.Token{
		Access: provider.Secret(m.Access), Refresh: provider.Secret(m.Refresh), IssuedAt: m.IssuedAt,
		ExpiresAt:        m.ExpiresAt,
		RefreshExpiresAt: m.RefreshExpiresAt, Scopes: scopes, LifetimeAssumed: m.Assumed, Subject: m.Subject,
		Name: m.Name, Email: m.Email,
	}
}

func (s *Service) sealMaterial(org, pending id.ID, m material) ([]byte, error) {
	plain, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode tokens: %w", err)
	}

	sealed, err := s.Box.Seal(plain, pendingAbout(org, pending))
	if err != nil {
		return nil, fmt.Errorf("seal tokens: %w", err)
	}

	return sealed, nil
}

func (s *Service) openMaterial(org, pending id.ID, sealed []byte) (m material, err error) {
	plain, err := s.Box.Open(sealed, pendingAbout(org, pending))
	if err != nil {
		return m, fmt.Errorf("open tokens: %w", err)
	}

	if err := json.Unmarshal(plain, &m); err != nil {
		return m, fmt.Errorf("decode tokens: %w", err)
	}

	return m, nil
}
