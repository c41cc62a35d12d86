package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	keyTag   = "API keys"
	keysPath = "/api/v1/api-keys"
)

type keyOut struct {
	httpx.Tagged
	Body org.APIKey
}

// createdAPIKey is a new API key. Only this response contains the key itself.
type createdAPIKey struct {
	org.APIKey
	Secret string `json:"key" doc:"Shown only once; only its hash is stored"`
}

type freshKeyOut struct {
	Location string `header:"Location" doc:"Address of the API key"`
	httpx.Tagged
	Body createdAPIKey
}

type keysOut struct{ Body httpx.List[org.APIKey] }

// KeyID is the path parameter of an API key. It is exported because huma ignores unexported embedded types.
type KeyID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the API key, not the key itself"`
}

type createAPIKeyIn struct {
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"200"`
		Role string `json:"role,omitempty" required:"false" enum:"viewer,member,admin,owner" default:"member"`
	}
}

// Descriptions implements wire.Describer.
func (createAPIKeyIn) Descriptions() map[string]string {
	return map[string]string{
		"name": "Name to recognize the key by; it need not be unique",
		"role": "Rights of the key; at most the role of its creator",
	}
}

type keyDeleteIn struct {
	KeyID
	httpx.IfMatch
}

func (a *App) mountAPIKeys() {
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "api_keys.list",
			Method: http.MethodGet,
			Path:   keysPath,
			Need:   httpx.Members(auth.Admin),
			Tag:    keyTag,
			Title:  "List API keys",
		},
		a.listKeys,
	)
	httpx.Route(a.Server, httpx.Op{
		ID:     "api_keys.create",
		Method: http.MethodPost,
		Path:   keysPath,
		Need:   httpx.Members(auth.Admin),
		Tag:    keyTag,
		Title:  "Create an API key",
		Status: http.StatusCreated,
		Secret: true,
	}, a.createKey)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "api_keys.get",
			Method: http.MethodGet, Path: keysPath + "/{id}", Need: httpx.Members(auth.Admin), Tag: keyTag,
			Title: "Get an API key",
		}, a.readKey)
	httpx.Route(a.Server, httpx.Op{
		ID:     "api_keys.revoke",
		Method: http.MethodDelete, Path: keysPath + "/{id}", Need: httpx.Members(auth.Admin), Tag: keyTag,
		Title:  "Revoke an API key",
		Status: http.StatusNoContent,
	}, a.revokeKey)
}

func (a *App) listKeys(ctx context.Context, in *httpx.PageInput) (*keysOut, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*keysOut, error) {
		rows, err := org.Keys(ctx, tx, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(
			ctx,
			a.Server,
			in.Page,
			rows,
			func(k org.APIKey) org.APIKey { return k },
			func(k org.APIKey) id.ID {
				return k.ID
			},
		)
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, org.CountKeys)
		}

		return &keysOut{l}, err
	})
}

func (a *App) createKey(ctx context.Context, in *createAPIKeyIn) (*freshKeyOut, error) {
	w := httpx.Who(ctx)
	role := auth.Role(in.Body.Role)
	if role == "" {
		role = auth.Member
	}
	if !w.Role.Includes(role) {
		return nil, fault.New(fault.Forbidden, "A key cannot have more rights than its creator.")
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*freshKeyOut, error) {
		secret, hash := auth.NewAPIKey(w.Org)
		k, err := org.AddKey(ctx, tx,
			org.NewKey{
				Name: in.Body.Name, Role: string(role), Hash: hash, Hint: secret[len(secret)-4:],
				CreatedBy: w.User,
			})
		if err != nil {
			return nil, err
		}

		return &freshKeyOut{
			Location: keysPath + "/" + k.ID.String(), Tagged: httpx.ETag(k.Edit, 0),
			Body: createdAPIKey{*k, secret},
		}, nil
	})
}

func (a *App) readKey(ctx context.Context, in *KeyID) (*keyOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*keyOut, error) {
		k, err := org.OneKey(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		used := int64(0) // use of the key is not an edit
		if k.LastUsedAt != nil {
			used = k.LastUsedAt.UnixMicro()
		}
		return &keyOut{httpx.ETag(k.Edit, used), *k}, nil
	})
}

func (a *App) revokeKey(ctx context.Context, in *keyDeleteIn) (*nothing, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*nothing, error) {
		return &nothing{}, org.RevokeKey(ctx, tx, in.ID, in.Check)
	})
}
