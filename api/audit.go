package api

import (
	"context"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type actsOut struct{ Body httpx.List[org.AuditEntry] }

func (a *App) mountAudit() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "audit_log.list",
		Method: http.MethodGet, Path: "/api/v1/audit-log", Need: httpx.Admin, Tag: orgTag,
		Title: "List changes to members, keys, roles, secrets and plans, and exports and purges, newest first",
	}, a.listActs)
}

type actQuery struct {
	httpx.PageInput
	ActorID       string    `query:"actor_id" format:"uuid" doc:"Only actions of this user or API key"`
	Action        string    `query:"action" maxLength:"100" doc:"Only this action, such as member.removed"`
	TargetType    string    `query:"target_type" maxLength:"100" doc:"Only targets of this type, such as member"`
	TargetID      string    `query:"target_id" maxLength:"200" doc:"Only this target"`
	CreatedAfter  time.Time `query:"created_after" doc:"Only entries created after this time"`
	CreatedBefore time.Time `query:"created_before" doc:"Only entries created before this time"`
}

func (q *actQuery) toFilter() (*org.ActFilter, error) {
	actor, err := uuidParameter("actor_id", q.ActorID)
	if err != nil {
		return nil, err
	}

	f := &org.ActFilter{
		Action: q.Action, TargetType: q.TargetType, Target: q.TargetID, After: q.CreatedAfter, Before: q.CreatedBefore,
	}
	if actor != nil {
		f.Actor = actor.String()
	}

	return f, nil
}

func (a *App) listActs(ctx context.Context, in *actQuery) (*actsOut, error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*actsOut, error) {
		rows, err := org.Acts(ctx, tx, f, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(x org.AuditEntry) org.AuditEntry { return x }, func(x org.AuditEntry) id.ID { return x.ID })
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return org.CountActs(ctx, tx, f)
			})
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
