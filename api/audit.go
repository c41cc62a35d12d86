package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type actsOut struct{ Body httpx.List[org.Act] }

func (a *App) mountAudit() {
	httpx.Route(a.Server, httpx.Op{
		Method: http.MethodGet, Path: "/api/v1/audit-log", Need: httpx.Admin, Tag: orgTag,
		Title: "List changes to members, keys, roles, secrets and plans, newest first",
	}, a.listActs)
}

func (a *App) listActs(ctx context.Context, in *httpx.PageInput) (*actsOut, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*actsOut, error) {
		rows, err := org.Acts(ctx, tx, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}
		l, err := httpx.NewList(
			ctx,
			a.Server,
			in.Page,
			rows,
			func(x org.Act) org.Act { return x },
			func(x org.Act) id.ID {
				return x.ID
			},
		)
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, org.CountActs)
		}
		return &actsOut{l}, err
	})
}

// auditStaff adds the audit log entry of a change that an agency's staff makes in a client org.
func auditStaff(ctx context.Context, tx *postgres.Tx, agency id.ID, op, path string) {
	org.Audit(ctx, tx, org.Entry{
		Action: "staff.acted", Target: "request", ID: op, Detail: map[string]any{"agency": agency, "path": path},
	})
}
