package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
)

type jwksOut struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Keys []auth.JWK `json:"keys"`
	}
}

func (a *App) mountJWKS() {
	httpx.Route(a.Server, httpx.Op{
		Method: http.MethodGet, Path: "/.well-known/jwks.json", Need: httpx.Public, Tag: authTag,
		Title: "List the public keys of access tokens, including the next one",
	}, a.jwks)
}

// jwks lets clients cache the keys for five minutes. A new key is published for longer than that before it signs.
func (a *App) jwks(ctx context.Context, _ *struct{}) (*jwksOut, error) {
	keys, err := a.Auth.PublicKeys(ctx)
	if err != nil {
		return nil, err
	}
	out := &jwksOut{CacheControl: "public, max-age=300"}
	out.Body.Keys = keys
	return out, nil
}
