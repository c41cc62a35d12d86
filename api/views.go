package api

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	viewsPath = "/api/v1/views"
	viewBytes = 64 << 10
)

var viewKey = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,100}$`)

func (a *App) mountViews() {
	const tag = "Views"
	need := httpx.Persons(httpx.Viewer.Role) // a key has no views
	httpx.Route(a.Server, httpx.Op{
		ID:     "views.list",
		Method: http.MethodGet, Path: viewsPath, Need: need, Tag: tag,
		Title: "List one's own saved views and preferences",
	}, a.listViews)
	httpx.Route(a.Server, httpx.Op{
		ID:     "views.put",
		Method: http.MethodPut, Path: viewsPath + "/{key}", Need: need, Tag: tag, MaxBody: viewBytes,
		Title: "Store a view or preference under a key",
		May:   []int{http.StatusConflict},
	}, a.putView)
	httpx.Route(a.Server, httpx.Op{
		ID:     "views.delete",
		Method: http.MethodDelete, Path: viewsPath + "/{key}", Need: need, Tag: tag,
		Title: "Remove a view or preference", Status: http.StatusNoContent,
	}, a.dropView)
}

// ViewKey is the path parameter of one view.
type ViewKey struct {
	Key string `path:"key" doc:"1 to 100 letters, digits, dots, colons, hyphens and underscores"`
}

func (k ViewKey) checkKey() error {
	if viewKey.MatchString(k.Key) {
		return nil
	}
	return fault.Parameter("key", "invalid_format",
		"A key has 1 to 100 letters, digits, dots, colons, hyphens and underscores.")
}

// savedView is a stored value as the API shows it.
type savedView struct {
	Key   string        `json:"key" doc:"Key that the value is stored under"`
	Value httpx.RawJSON `json:"value" doc:"The value as it was sent"`
}

func showView(v org.View) savedView { return savedView{Key: v.Key, Value: httpx.RawJSON(v.Value)} }

type viewList struct {
	Body httpx.List[savedView]
}

func (a *App) listViews(ctx context.Context, in *struct{ httpx.Page }) (*viewList, error) {
	after, err := httpx.After[string](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	begin := ""
	if after != nil {
		begin = *after
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*viewList, error) {
		rows, err := org.Views(ctx, tx, httpx.Who(ctx).User, begin, in.Limit+1)
		if err != nil {
			return nil, err
		}
		l, err := httpx.NewList(ctx, a.Server, in.Page, rows, showView, func(v org.View) string { return v.Key })
		return &viewList{l}, err
	})
}

type viewOut struct{ Body savedView }

func (a *App) putView(ctx context.Context, in *struct {
	ViewKey
	Body httpx.RawJSON
},
) (*viewOut, error) {
	if err := in.checkKey(); err != nil {
		return nil, err
	}
	v := org.View{Key: in.Key, Value: json.RawMessage(in.Body)}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*viewOut, error) {
		return &viewOut{showView(v)}, org.PutView(ctx, tx, httpx.Who(ctx).User, v)
	})
}

func (a *App) dropView(ctx context.Context, in *ViewKey) (*noContact, error) {
	if err := in.checkKey(); err != nil {
		return nil, err
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*noContact, error) {
		org.DropView(tx, httpx.Who(ctx).User, in.Key)
		return &noContact{}, nil
	})
}
