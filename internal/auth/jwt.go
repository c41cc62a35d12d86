package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/funnelwork/funnelwork/internal/id"
)

// token is the part of a verified access token that we need later. Its role is for readers of the token only;
// authorization uses the current role.
type token struct {
	org, user, session id.ID
	staff              id.ID // the agency whose staff acts in org, or zero
	client             Client
	expires            time.Time // with leeway
}

// claims are those of an access token (RFC 9068). sid is the login that issued it.
type claims struct {
	jwt.RegisteredClaims
	Org     string `json:"org"`
	Role    Role   `json:"role"`
	Session string `json:"sid"`
	Staff   string `json:"staff_of,omitempty"` // the agency, if its staff acts in a client's org
	Client  Client `json:"client,omitempty"`
}

const (
	algorithm = "EdDSA"
	tokenType = "at+jwt"
)

// signAccess signs a token for who.
func (s *Service) signAccess(ctx context.Context, who Who, now time.Time) (string, error) {
	key, err := s.signingKey(ctx, now)
	if err != nil {
		return "", err
	}

	staff := ""
	if !who.Staff.IsZero() {
		staff = who.Staff.String()
	}

	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    s.Issuer,
			Audience:  jwt.ClaimStrings{s.Audience},
			Subject:   who.User.String(),
			ID:        id.New().String(),
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(accessLife)),
		},
		Org: who.Org.String(), Role: who.Role, Session: who.Session.String(), Staff: staff, Client: who.Client,
	})
	t.Header["typ"] = tokenType
	t.Header["kid"] = key.kid
	text, err := t.SignedString(key.private)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}

	return text, nil
}

// verifyAccess verifies an access token as RFC 8725 requires: one algorithm, one of our keys by kid alone (jku, x5u and
// jwk are ignored), type, issuer, audience and times.
func (s *Service) verifyAccess(ctx context.Context, text string, now time.Time) (token, error) {
	var (
		c    claims
		away error
	)

	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{algorithm}),
		jwt.WithStrictDecoding(),
		jwt.WithIssuer(s.Issuer),
		jwt.WithAudience(s.Audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(text, &c, func(t *jwt.Token) (any, error) {
		typ, _ := t.Header["typ"].(string)
		if !strings.EqualFold(strings.TrimPrefix(strings.ToLower(typ), "application/"), tokenType) {
			return nil, errors.New("unexpected typ")
		}
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("unsupported crit")
		}

		kid, _ := t.Header["kid"].(string)
		key, err := s.publicKey(ctx, kid, now)
		away = err

		return key, err
	})
	if away != nil && !errors.Is(away, errKid) {
		return token{}, away
	}
	if err != nil {
		s.Metrics.parsed.WithLabelValues("refused").Inc()
		return token{}, errToken
	}

	t := token{expires: c.ExpiresAt.Add(leeway), client: c.Client}
	var bad [4]error
	t.org, bad[0] = id.Parse(c.Org)
	t.user, bad[1] = id.Parse(c.Subject)
	t.session, bad[2] = id.Parse(c.Session)
	if c.Staff != "" {
		t.staff, bad[3] = id.Parse(c.Staff)
	}
	if errors.Join(bad[:]...) != nil || c.IssuedAt == nil || c.ID == "" {
		s.Metrics.parsed.WithLabelValues("refused").Inc()
		return token{}, errToken
	}

	s.Metrics.parsed.WithLabelValues("accepted").Inc()

	return t, nil
}
