package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// ErrSignature means that a signed request was not signed with this application's secret.
var ErrSignature = errors.New("the signature does not match the signed request")

// Removed is Meta's notification that a person removed the application, or wants their data erased.
type Removed struct {
	Subject  string    // as in Login
	IssuedAt time.Time // by the provider's clock, in whole seconds
}

// SignedRequest verifies and decodes the signed_request that Meta posts: the signature and the payload, each in
// base64url, with a dot between them. The signature is an HMAC-SHA256 of the encoded payload under the application's
// secret. For any other text, and for a provider that sends none, it returns ErrSignature.
func (p *Provider) SignedRequest(raw string) (Removed, error) {
	signature, payload, ok := strings.Cut(raw, ".")
	sent, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(signature, "="))
	if !ok || err != nil || !p.Notifies {
		return Removed{}, ErrSignature
	}
	mac := hmac.New(sha256.New, []byte(p.app.ClientSecret.Reveal()))
	mac.Write([]byte(payload))
	if !hmac.Equal(sent, mac.Sum(nil)) {
		return Removed{}, ErrSignature
	}
	var said struct {
		Algorithm string `json:"algorithm"`
		User      text   `json:"user_id"`
		IssuedAt  int64  `json:"issued_at"`
	}
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(payload, "="))
	if err != nil || json.Unmarshal(plain, &said) != nil || !strings.EqualFold(said.Algorithm, "HMAC-SHA256") ||
		said.User == "" {
		return Removed{}, ErrSignature
	}
	out := Removed{Subject: string(said.User), IssuedAt: p.now()}
	if said.IssuedAt > 0 {
		out.IssuedAt = time.Unix(said.IssuedAt, 0)
	}
	return out, nil
}
