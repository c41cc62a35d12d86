package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences"
)

const (
	sequencesPath = "/api/v1/sequences"
	sequencesTag  = "Sequences"
)

func (a *App) mountSequences() {
	const one = sequencesPath + "/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.create",
		Method: http.MethodPost, Path: sequencesPath, Need: httpx.Member, Tag: sequencesTag,
		Title: "Create a sequence", Status: http.StatusCreated, Feature: plans.Sequences,
	}, a.createSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.list",
		Method: http.MethodGet, Path: sequencesPath, Need: httpx.Viewer, Tag: sequencesTag, Title: "List sequences",
	}, a.listSequences)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.get",
		Method: http.MethodGet, Path: one, Need: httpx.Viewer, Tag: sequencesTag, Title: "Get a sequence",
	}, a.getSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.update",
		Method: http.MethodPatch, Path: one, Need: httpx.Member, Tag: sequencesTag,
		Title: "Update a sequence or its draft", Feature: plans.Sequences,
	}, a.updateSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.delete",
		Method: http.MethodDelete, Path: one, Need: httpx.Member, Tag: sequencesTag,
		Title: "Archive a sequence and hide it", Status: http.StatusNoContent,
	}, a.deleteSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.restore",
		Method: http.MethodPost, Path: one + "/restore", Need: httpx.Member, Tag: sequencesTag,
		Title: "List a deleted sequence again; it stays archived",
	}, a.restoreSequence)
	a.mountSequenceActions(one)
}

// SequenceID is the path parameter of one sequence.
type SequenceID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the sequence"`
}

type sequenceOut struct {
	httpx.Tagged
	Body sequences.Sequence
}

func showSequence(r *sequences.Row) *sequenceOut {
	return &sequenceOut{Tagged: httpx.ETag(r.Edit, 0), Body: r.Value}
}

type sequenceCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the sequence"`
	Body     sequences.Sequence
}

func createdSequence(r *sequences.Row) *sequenceCreated {
	return &sequenceCreated{
		Tagged: httpx.ETag(r.Edit, 0), Location: sequencesPath + "/" + r.Value.ID.String(), Body: r.Value,
	}
}

func (a *App) createSequence(ctx context.Context, in *struct{ Body createSequenceRequest }) (*sequenceCreated, error) {
	p := in.Body.patch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceCreated, error) {
		r, err := sequences.Create(ctx, tx, &p, sequenceGround(ctx, tx))
		if err != nil {
			return nil, err
		}
		return createdSequence(&r), nil
	})
}

type getSequenceIn struct {
	SequenceID
	IncludeArchived bool `query:"include_archived" doc:"Also find a deleted sequence"`
}

func (a *App) getSequence(ctx context.Context, in *getSequenceIn) (*sequenceOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		r, err := sequences.Get(ctx, tx, in.ID, in.IncludeArchived)
		if err != nil {
			return nil, err
		}
		return showSequence(&r), nil
	})
}

type updateSequenceIn struct {
	SequenceID
	httpx.IfMatch
	Body updateSequenceRequest
}

func (a *App) updateSequence(ctx context.Context, in *updateSequenceIn) (*sequenceOut, error) {
	p := in.Body.patch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		ch, err := sequences.Update(ctx, tx, in.ID, in.Check, &p, sequenceGround(ctx, tx))
		if err != nil {
			return nil, err
		}
		return showSequence(&ch.Row), nil
	})
}

type deleteSequenceIn struct {
	SequenceID
	httpx.IfMatch
}

func (a *App) deleteSequence(ctx context.Context, in *deleteSequenceIn) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		_, err := sequences.Delete(ctx, tx, in.ID, in.Check)
		return &struct{}{}, err
	})
}

func (a *App) restoreSequence(ctx context.Context, in *SequenceID) (*sequenceOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		ch, err := sequences.Restore(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showSequence(&ch.Row), nil
	})
}

type sequenceQuery struct {
	httpx.Page
	CountQuery
	Sort     string `query:"sort" enum:"-created_at,created_at,name" default:"-created_at"`
	Status   string `query:"status" enum:"draft,active,paused,archived" doc:"Only sequences with this status"`
	Archived bool   `query:"archived" doc:"List deleted sequences instead of the others"`
}

// Descriptions implements wire.Describer.
func (sequenceQuery) Descriptions() map[string]string {
	return map[string]string{
		"sort": "Order of the list; a leading minus is descending",
	}
}

func (a *App) listSequences(ctx context.Context, in *sequenceQuery) (*recordList[sequences.Sequence], error) {
	f := sequences.Filter{Status: in.Status, Deleted: in.Archived}
	return listHandler(ctx, a, in.Page, in.Count, listing[sequences.Sequence]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]sequences.Row, error) {
			return sequences.List(ctx, tx, f, in.Sort, after, limit)
		},
		position: func(r *sequences.Row) record.Position { return sequences.Position(in.Sort, r) },
		count: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return sequences.Count(ctx, tx, f)
		},
		estimate: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return sequences.Estimate(ctx, tx, f)
		},
	})
}
