package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

const (
	socialPath = "/api/v1/social"
	adsPath    = "/api/v1/ads"
	accountTag = "Social and ad accounts"
)

// families are the two kinds of accounts. They differ only in path and plan feature.
var families = []struct {
	path string
	noun string // of operation ids
	kind provider.Kind
	one  string // with its article, for titles
	many string
}{
	{socialPath, "social_accounts", provider.Social, "a social account", "social accounts"},
	{adsPath, "ad_accounts", provider.Ads, "an ad account", "ad accounts"},
}

func (a *App) mountAccounts() {
	for _, f := range families {
		path := f.path + "/accounts"
		kind := f.kind
		one := path + "/{id}"
		httpx.Route(
			a.Server,
			httpx.Op{
				ID:     f.noun + ".list",
				Method: http.MethodGet,
				Path:   path,
				Need:   httpx.Viewer,
				Tag:    accountTag,
				Title:  "List " + f.many,
			},
			func(ctx context.Context, in *listAccountsIn) (*accountsOut, error) {
				return a.listAccounts(ctx, kind, in)
			},
		)
		httpx.Route(
			a.Server,
			httpx.Op{
				ID:     f.noun + ".get",
				Method: http.MethodGet,
				Path:   one,
				Need:   httpx.Viewer,
				Tag:    accountTag,
				Title:  "Get " + f.one,
			},
			func(ctx context.Context, in *getAccountIn) (*accountOut, error) {
				return a.getAccount(ctx, kind, in)
			},
		)
		httpx.Route(a.Server, httpx.Op{
			ID:     f.noun + ".disconnect",
			Method: http.MethodDelete, Path: one, Need: httpx.Admin, Tag: accountTag, Title: "Disconnect " + f.one,
			Status: http.StatusNoContent,
			Writes: []string{"social_account.disconnected", "token.revoke"},
		}, func(ctx context.Context, in *dropAccountIn) (*struct{}, error) {
			return a.dropAccount(ctx, kind, in)
		})
	}
}

// AccountID is the path parameter of one account.
type AccountID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the connected account"`
}

type accountOut struct {
	httpx.Tagged
	Body social.Account
}

type accountsOut struct {
	Body httpx.List[social.Account]
}

type listAccountsIn struct {
	httpx.Page
	httpx.Counted
	Platform string `query:"platform" maxLength:"50" doc:"Only accounts of this platform"`
	Status   string `query:"status" enum:"active,expiring,reauth_required,revoked" doc:"Only accounts with this status"`
	Archived bool   `query:"archived" doc:"List disconnected accounts instead of connected ones"`
}

func (a *App) listAccounts(ctx context.Context, kind provider.Kind, in *listAccountsIn) (*accountsOut, error) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	f := social.Filter{Kind: kind, Platform: in.Platform, Status: in.Status, Archived: in.Archived}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*accountsOut, error) {
		rows, err := social.List(ctx, tx, f, orZero(before), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(v social.Versioned) social.Account { return v.Account }, func(v social.Versioned) id.ID {
				return v.ID
			})
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return social.Count(ctx, tx, f)
			})
		}

		return &accountsOut{l}, err
	})
}

type getAccountIn struct {
	AccountID
	Archived bool `query:"include_archived" doc:"Also return a disconnected account"`
}

func (a *App) getAccount(ctx context.Context, kind provider.Kind, in *getAccountIn) (*accountOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*accountOut, error) {
		v, err := social.Get(ctx, tx, kind, in.ID, in.Archived)
		if err != nil {
			return nil, err
		}
		return &accountOut{Tagged: httpx.ETag(int64(v.Edit), v.Computed), Body: v.Account}, nil
	})
}

type dropAccountIn struct {
	AccountID
	httpx.IfMatch
}

func (a *App) dropAccount(ctx context.Context, kind provider.Kind, in *dropAccountIn) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		return &struct{}{}, a.Social.Disconnect(ctx, tx, kind, in.ID, func(v social.Versioned) error {
			return in.Check(int64(v.Edit))
		})
	})
}
