package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

const suppressionsPath = "/api/v1/suppressions"

func (a *App) mountSuppressions() {
	const tag = "Suppressions"
	httpx.Route(a.Server, httpx.Op{
		ID:     "suppressions.create",
		Method: http.MethodPost, Path: suppressionsPath, Need: httpx.Member, Tag: tag,
		Title: "Suppress an address or a domain", Status: http.StatusCreated, Also: []int{http.StatusOK},
	}, a.createSuppression)
	httpx.Route(a.Server, httpx.Op{
		ID:     "suppressions.list",
		Method: http.MethodGet, Path: suppressionsPath, Need: httpx.Viewer, Tag: tag, Title: "List suppressions",
	}, a.listSuppressions)
	a.mountSuppressionImports() // before the routes with an ID, which would match "imports"
	httpx.Route(a.Server, httpx.Op{
		ID:     "suppressions.lift",
		Method: http.MethodDelete, Path: suppressionsPath + "/{id}", Need: httpx.Admin, Tag: tag,
		Title: "Lift a suppression", Status: http.StatusNoContent,
	}, a.liftSuppression)
}

func (a *App) suppressionService() *suppression.Service { return &suppression.Service{Box: a.Box} }

type createSuppressionRequest struct {
	Email   *string `json:"email,omitempty" doc:"Address; exactly one of email and domain is given"`
	Domain  *string `json:"domain,omitempty" doc:"Domain, with every address of it"`
	Purpose *string `json:"purpose,omitempty" doc:"marketing, or all, which is the default"`
	Reason  *string `json:"reason,omitempty" doc:"unsubscribe, complaint, hard_bounce or manual, which is the default"`
	Note    *string `json:"note,omitempty" doc:"What a person adds about the reason, up to 500 characters"`
}

// toSuppression validates the request.
func (b *createSuppressionRequest) toSuppression() (n suppression.New, err error) {
	f := form.At("")
	n = suppression.New{Source: "api"}
	for at, sent := range map[*string]*string{
		&n.Email: b.Email, &n.Domain: b.Domain, &n.Purpose: b.Purpose, &n.Reason: b.Reason, &n.Note: b.Note,
	} {
		if sent != nil {
			*at = *sent
		}
	}

	n.Check(f)
	return n, f.Fault()
}

type suppressionOut struct {
	Status int
	Body   suppression.Suppression
}

func (a *App) createSuppression(ctx context.Context, in *struct{ Body createSuppressionRequest }) (*suppressionOut,
	error,
) {
	n, err := in.Body.toSuppression()
	if err != nil {
		return nil, err
	}

	kind, who := httpx.Who(ctx).Actor()
	n.By = kind + "/" + who

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*suppressionOut, error) {
		s, added, err := a.suppressionService().Add(ctx, tx, n)
		if err != nil {
			return nil, err
		}
		out := &suppressionOut{Status: http.StatusOK, Body: s}
		if added {
			out.Status = http.StatusCreated
		}
		return out, nil
	})
}

type listSuppressionsIn struct {
	httpx.Page
	Email   string `query:"email" maxLength:"254" doc:"Only suppressions of this address"`
	Domain  string `query:"domain" maxLength:"253" doc:"Only suppressions of this domain"`
	Purpose string `query:"purpose" enum:"marketing,all" doc:"Only suppressions for this purpose"`
	Reason  string `query:"reason" enum:"unsubscribe,complaint,hard_bounce,manual"`
	Lifted  bool   `query:"lifted" doc:"List lifted suppressions instead of those in force"`
	Count   string `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (listSuppressionsIn) Descriptions() map[string]string {
	return map[string]string{
		"reason": "Only suppressions with this reason",
		"count":  "Add total, the number of suppressions; both values count exactly",
	}
}

func (a *App) listSuppressions(ctx context.Context, in *listSuppressionsIn) (*struct {
	Body httpx.List[suppression.Suppression]
}, error,
) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	if in.Email != "" && in.Domain != "" {
		return nil, fault.Parameter("domain", "not_allowed", "Give either an email or a domain.")
	}

	f := suppression.Filter{
		Email: in.Email, Domain: in.Domain, Purpose: in.Purpose, Reason: in.Reason, Lifted: in.Lifted,
	}
	type out = struct {
		Body httpx.List[suppression.Suppression]
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*out, error) {
		rows, err := a.suppressionService().List(ctx, tx, f, orZero(before), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(s suppression.Suppression) suppression.Suppression { return s },
			func(s suppression.Suppression) id.ID { return s.ID })
		if err == nil && in.Count != "" {
			n, failed := a.suppressionService().Count(ctx, tx, f)
			l.Total = &n
			err = failed
		}

		return &out{l}, err
	})
}

type liftSuppressionIn struct {
	ID     id.ID  `path:"id" format:"uuid" doc:"ID of the suppression"`
	Reason string `query:"reason" maxLength:"500" doc:"Why it is lifted; required, and kept in the audit log"`
}

func (a *App) liftSuppression(ctx context.Context, in *liftSuppressionIn) (*struct{}, error) {
	if strings.TrimSpace(in.Reason) == "" {
		return nil, fault.Parameter("reason", "required", "Say why the suppression is lifted.")
	}

	who := httpx.Who(ctx)
	kind, actor := who.Actor()
	may := func(s suppression.Suppression) error {
		if s.Reason == suppression.Complaint && who.Role != auth.Owner {
			return fault.New(fault.Forbidden, "Only an owner lifts the suppression of a person who complained.")
		}
		return nil
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		_, lifted, err := a.suppressionService().Lift(ctx, tx, in.ID, in.Reason, kind+"/"+actor, may)
		if err == nil && lifted {
			org.Audit(ctx, tx, org.Entry{
				Action: "suppression.lifted", Target: "suppression", ID: in.ID.String(),
				Detail: map[string]any{"reason": in.Reason},
			})
		}
		return &struct{}{}, err
	})
}
