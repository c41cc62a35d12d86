package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type actsOut struct{ Body list[org.Act] }

func (a *App) mountAudit() {
	route(a.Server, op{
		Method: http.MethodGet, Path: "/api/v1/audit-log", Need: admin, Tag: orgTag,
		Title: "List changes to members, keys, roles, secrets and plans, newest first",
	}, a.listActs)
}

func (a *App) listActs(ctx context.Context, in *pageIn) (*actsOut, error) {
	from, err := after[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	return read(ctx, a.Server, func(tx *postgres.Tx) (*actsOut, error) {
		rows, err := org.Acts(ctx, tx, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}
		l, err := listOf(ctx, a.Server, in.Page, rows, func(x org.Act) org.Act { return x }, func(x org.Act) id.ID {
			return x.ID
		})
		if err == nil {
			err = in.add(ctx, tx, &l.Total, org.CountActs)
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
