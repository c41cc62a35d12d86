package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
)

const dealsPath = "/api/v1/crm/deals"

func (a *App) mountDeals() {
	r := records[deals.Deal, deals.Patch]{
		App: a, path: dealsPath, id: func(d *deals.Deal) id.ID { return d.ID },
		create: deals.Create, get: deals.Get, update: deals.Update, archive: deals.Archive, restore: deals.Restore,
		announce: announceDeal,
		resolve: func(ctx context.Context, err error) error {
			return deals.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
		},
	}
	const tag = "Deals"
	moves := []string{
		"deal.updated", "deal.stage_changed", "deal.won", "deal.lost", "deal.reopened", "lead.score",
		scoretrain.Kind.Name(),
	}
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "deals.create",
			Method: http.MethodPost, Path: dealsPath, Need: httpx.Member, Tag: tag, Title: "Create a deal",
			Status: http.StatusCreated,
			Writes: []string{"deal.created", "deal.won", "deal.lost", "lead.score", scoretrain.Kind.Name()},
		},
		createHandler(r, (*createDealRequest).toPatch))
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "deals.list",
			Method: http.MethodGet,
			Path:   dealsPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List deals",
		},
		a.listDeals,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "deals.upsert_batch",
			Method: http.MethodPost, Path: dealsPath + "/batch", Need: httpx.Member, Tag: tag,
			Title: "Create or update up to 1000 deals", MaxBody: httpx.BatchBodyBytes, ByRow: true,
			Writes: append([]string{"deal.created"}, moves...),
		}, a.batchDeals)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "deals.get",
			Method: http.MethodGet,
			Path:   dealsPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a deal",
		},
		r.getRecord,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "deals.update",
			Method: http.MethodPatch, Path: dealsPath + "/{id}", Need: httpx.Member, Tag: tag,
			Title: "Update, win, lose or reopen a deal", Writes: moves,
		},
		updateHandler(r, (*updateDealRequest).toPatch))
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "deals.archive",
			Method: http.MethodDelete, Path: dealsPath + "/{id}", Need: httpx.Member, Tag: tag, Title: "Archive a deal",
			Status: http.StatusNoContent, Writes: []string{"deal.archived"},
		}, r.archiveRecord)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "deals.restore",
			Method: http.MethodPost, Path: dealsPath + "/{id}/restore", Need: httpx.Member, Tag: tag,
			Title: "Restore an archived deal", Writes: []string{"deal.restored"},
		}, r.restoreRecord)
}

// announceDeal announces a change and enqueues scoring of the contact it affects.
func announceDeal(ctx context.Context, tx *postgres.Tx, ch *deals.Change) error {
	if err := announceAll(ctx, tx, deals.Events(ch)); err != nil {
		return err
	}
	if err := endForDeal(ctx, tx, ch); err != nil {
		return err
	}
	if contact := deals.Scored(ch); contact != nil {
		if err := enqueueScoring(ctx, tx, *contact); err != nil {
			return err
		}
	}

	return enqueueTraining(ctx, tx, isClosing(ch))
}

// endForDeal ends the enrolments that a won deal ends.
func endForDeal(ctx context.Context, tx *postgres.Tx, ch *deals.Change) error {
	won := slices.ContainsFunc(deals.Events(ch), func(e events.Event) bool { return e.Type() == "deal.won" })
	if !won || ch.Value.ContactID == nil {
		return nil
	}
	return states.DealWon(ctx, tx, *ch.Value.ContactID)
}

// isClosing reports whether the change won or lost the deal.
func isClosing(ch *deals.Change) bool {
	return slices.ContainsFunc(deals.Events(ch), func(e events.Event) bool {
		return e.Type() == "deal.won" || e.Type() == "deal.lost"
	})
}

// enqueueTraining enqueues training of the org's scoring model on closed deals, some minutes from now. Call it last in
// a transaction: it waits for concurrent transactions that enqueue the same job.
func enqueueTraining(ctx context.Context, tx *postgres.Tx, wanted bool) error {
	if !wanted {
		return nil
	}
	args := scoretrain.Args{}
	return scoretrain.Kind.Add(ctx, tx, args, args.Ask()...)
}

func (a *App) batchDeals(
	ctx context.Context,
	in *struct{ Body batchRows[dealBatchRequest] },
) (*recordBatchResultsOut, error) {
	sent, wrong, err := rowsOf[dealRow](a, &in.Body)
	if err != nil {
		return nil, err
	}

	rows := make([]deals.Upsert, len(sent))
	for i := range sent {
		rows[i] = sent[i].toUpsert()
		rows[i].Wrong = wrong[i]
	}

	// The contacts of all rows are scored together, in few jobs.
	var (
		score []id.ID
		over  bool
	)
	last := len(rows)

	return writeBatch(ctx, a, func(tx *postgres.Tx) ([]record.Outcome, []deals.Change, error) {
		out, changed, err := deals.UpsertAll(ctx, tx, rows)
		score = nil
		over = false
		last = len(changed)
		return out, changed, err
	}, func(ctx context.Context, tx *postgres.Tx, ch *deals.Change) error {
		if err := announceAll(ctx, tx, deals.Events(ch)); err != nil {
			return err
		}
		if err := endForDeal(ctx, tx, ch); err != nil {
			return err
		}
		if contact := deals.Scored(ch); contact != nil {
			score = append(score, *contact)
		}

		over = over || isClosing(ch)
		if last--; last > 0 {
			return nil
		}
		if err := enqueueScoring(ctx, tx, uniqueIDs(score)...); err != nil {
			return err
		}

		return enqueueTraining(ctx, tx, over)
	})
}

// uniqueIDs returns the ids without duplicates, in order.
func uniqueIDs(ids []id.ID) (out []id.ID) {
	seen := map[id.ID]bool{}
	for _, i := range ids {
		if !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	return out
}

type dealQuery struct {
	httpx.Page
	CountQuery
	PipelineID string `query:"pipeline_id" format:"uuid" doc:"Only deals in this pipeline"`
	StageID    string `query:"stage_id" format:"uuid" doc:"Only deals in this stage"`
	Status     string `query:"status" enum:"open,won,lost" doc:"Only deals with this status"`
	ContactID  string `query:"contact_id" format:"uuid" doc:"Only deals of this contact"`
	CompanyID  string `query:"company_id" format:"uuid" doc:"Only deals of this company"`
	OwnerID    string `query:"owner_id" format:"uuid" doc:"Only deals of this owner, a user's ID"`
	ExternalIDQuery
	MinAmount    int64     `query:"min_amount" minimum:"0" doc:"Minimum amount, in minor units of any currency"`
	MaxAmount    int64     `query:"max_amount" minimum:"0" maximum:"9007199254740992" default:"9007199254740992"`
	ClosedAfter  time.Time `query:"closed_after" doc:"Only deals won or lost after this time (RFC 3339), exclusive"`
	ClosedBefore time.Time `query:"closed_before" doc:"Only deals won or lost before this time (RFC 3339), exclusive"`
	Sort         string    `query:"sort" enum:"-created_at,created_at,-amount,expected_close_on" default:"-created_at"`
	Archived     bool      `query:"archived" doc:"List archived deals instead of live ones"`
}

// Descriptions implements wire.Describer.
func (dealQuery) Descriptions() map[string]string {
	return map[string]string{
		"max_amount": "Maximum amount, in minor units of any currency",
		"sort":       "Deals without an expected close date come last",
	}
}

func (q *dealQuery) toFilter() (*deals.Filter, error) {
	f := &deals.Filter{Status: q.Status, Archived: q.Archived}
	var errs []error
	for _, p := range []struct {
		name, in string
		at       **id.ID
	}{
		{"pipeline_id", q.PipelineID, &f.Pipeline},
		{"stage_id", q.StageID, &f.Stage},
		{"contact_id", q.ContactID, &f.Contact},
		{"company_id", q.CompanyID, &f.Company},
		{"owner_id", q.OwnerID, &f.Owner},
	} {
		i, err := uuidParameter(p.name, p.in)
		*p.at = i
		errs = append(errs, err)
	}

	if err := errors.Join(errs...); err != nil {
		return nil, fault.Of(err)
	}
	var err error
	if f.ExternalID, err = externalIDParameter(q.ExternalID); err != nil {
		return nil, err
	}
	if q.MinAmount > 0 {
		f.MinAmount = &q.MinAmount
	}
	if q.MaxAmount < 1<<53 {
		f.MaxAmount = &q.MaxAmount
	}

	f.ClosedAfter = timeOrNil(q.ClosedAfter)
	f.ClosedBefore = timeOrNil(q.ClosedBefore)

	return f, nil
}

// timeOrNil returns a pointer to t, or nil if t is zero.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *App) listDeals(ctx context.Context, in *dealQuery) (*recordList[deals.Deal], error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	return listHandler(ctx, a, in.Page, in.Count, listing[deals.Deal]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]deals.Row, error) {
			return deals.List(ctx, tx, f, in.Sort, after, limit)
		},
		position: func(r *deals.Row) record.Position { return deals.Position(in.Sort, r) },
		count:    func(ctx context.Context, tx *postgres.Tx) (int64, error) { return deals.Count(ctx, tx, f) },
		estimate: func(ctx context.Context, tx *postgres.Tx) (int64, error) { return deals.Estimate(ctx, tx, f) },
	})
}
