package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
)

type publicKeysOut struct {
	CacheControl string `header:"Cache-Control" doc:"The keys may be cached for five minutes: public, max-age=300"`
	Body         struct {
		Keys []auth.JWK `json:"keys"`
	}
}

// Descriptions implements wire.Describer.
func (publicKeysOut) Descriptions() map[string]string {
	return map[string]string{
		"keys": "The keys to verify access tokens with, by kid: the current ones and the next one",
	}
}

func (a *App) mountJWKS() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.list_public_keys",
		Method: http.MethodGet, Path: "/.well-known/jwks.json", Need: httpx.Public, Tag: authTag,
		Title: "List the public keys of access tokens, including the next one",
	}, a.listPublicKeys)
}

// listPublicKeys lets clients cache the keys for five minutes. A new key is published for longer than that before it
// signs.
func (a *App) listPublicKeys(ctx context.Context, _ *struct{}) (*publicKeysOut, error) {
	keys, err := a.Auth.PublicKeys(ctx)
	if err != nil {
		return nil, err
	}
	out := &publicKeysOut{CacheControl: "public, max-age=300"}
	out.Body.Keys = keys
	return out, nil
}
