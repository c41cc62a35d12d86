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

// ErrSignature is a signed request that this application's secret has not signed.
var ErrSignature = errors.New("the signature does not fit the signed request")

// Removed is what Meta says of a person who removed the application, or who wants their data erased.
type Removed struct {
	Subject  string    // as Login has it
	IssuedAt time.Time // by the provider's clock, in whole seconds
}

// SignedRequest reads the signed_request that Meta posts: the signature and the payload, each in base64url, with a dot
// between them. The signature is an HMAC-SHA256 of the payload's text under the application's secret. Anything else, and a
// provider that sends none, is ErrSignature.
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
	if err != nil || json.Unmarshal(plain, &said) != nil || !strings.EqualFold(said.Algorithm, "HMAC-SHA256") || said.User == "" {
		return Removed{}, ErrSignature
	}
	out := Removed{Subject: string(said.User), IssuedAt: p.now()}
	if said.IssuedAt > 0 {
		out.IssuedAt = time.Unix(said.IssuedAt, 0)
	}
	return out, nil
}
