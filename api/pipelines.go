package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const pipelinesPath = "/api/v1/crm/pipelines"

func (a *App) mountPipelines() {
	r := records[deals.Pipeline, deals.PipelinePatch]{
		App: a, path: pipelinesPath, id: func(p *deals.Pipeline) id.ID { return p.ID },
		create: deals.CreatePipeline, get: deals.GetPipeline, update: deals.UpdatePipeline,
		archive: deals.ArchivePipeline, restore: deals.RestorePipeline,
		announce: func(context.Context, *postgres.Tx, *deals.PipelineChange) error { return nil },
	}
	const tag = "Pipelines"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "pipelines.create",
			Method: http.MethodPost, Path: pipelinesPath, Need: httpx.Member, Tag: tag, Title: "Create a pipeline",
			Status: http.StatusCreated,
		}, createHandler(r, (*createPipelineRequest).toPatch))
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "pipelines.list",
			Method: http.MethodGet, Path: pipelinesPath, Need: httpx.Viewer, Tag: tag,
			Title: "List pipelines, oldest first",
		}, a.listPipelines)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "pipelines.get",
			Method: http.MethodGet,
			Path:   pipelinesPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a pipeline",
		},
		r.getRecord,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "pipelines.update",
			Method: http.MethodPatch, Path: pipelinesPath + "/{id}", Need: httpx.Member, Tag: tag,
			Title: "Update a pipeline and its stages",
		}, updateHandler(r, (*updatePipelineRequest).toPatch))
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "pipelines.archive",
			Method: http.MethodDelete, Path: pipelinesPath + "/{id}", Need: httpx.Member, Tag: tag,
			Title: "Archive a pipeline that has no live deals", Status: http.StatusNoContent,
		}, r.archiveRecord)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "pipelines.restore",
			Method: http.MethodPost, Path: pipelinesPath + "/{id}/restore", Need: httpx.Member, Tag: tag,
			Title: "Restore an archived pipeline",
		}, r.restoreRecord)
}

// pipelineStageInput is one stage in a request.
type pipelineStageInput struct {
	ID          httpx.Optional[string] `json:"id" required:"false" doc:"ID of an existing stage; absent for a new one"`
	Name        httpx.Optional[string] `json:"name" required:"false" doc:"1 to 200 characters, unique"`
	Kind        httpx.Optional[string] `json:"kind" required:"false" doc:"open, won or lost; required for a new stage"`
	Probability httpx.Optional[int64]  `json:"probability" required:"false" minimum:"0" maximum:"100"`
}

// Descriptions implements wire.Describer.
func (pipelineStageInput) Descriptions() map[string]string {
	return map[string]string{
		"probability": "Percent, default 50; 100 for a won stage, 0 for a lost one",
	}
}

// PipelineFields are the members common to every pipeline body.
type PipelineFields struct {
	Default httpx.Optional[bool]                 `json:"default" required:"false"`
	Stages  httpx.Optional[[]pipelineStageInput] `json:"stages" required:"false"`

	ID         httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt  httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt  httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (PipelineFields) Descriptions() map[string]string {
	return map[string]string{
		"stages": "All stages in order, at most 50, with at least one open, one won and one lost. Default: five " +
			"common stages",
		"default": "Whether deals without a pipeline go here",
	}
}

func (f *PipelineFields) toPatch(name httpx.Optional[string]) deals.PipelinePatch {
	p := deals.PipelinePatch{
		Name: name.Field, Default: f.Default.Field,
		Stages: wire.Field[[]deals.StagePatch]{Set: f.Stages.Set, Null: f.Stages.Null},
	}

	for _, s := range f.Stages.Value {
		p.Stages.Value = append(p.Stages.Value,
			deals.StagePatch{ID: s.ID.Field, Name: s.Name.Field, Kind: s.Kind.Field, Probability: s.Probability.Field})
	}

	for name, sent := range map[string]httpx.RawJSON{
		"id": f.ID, "created_at": f.CreatedAt, "updated_at": f.UpdatedAt,
		"archived_at": f.ArchivedAt,
	} {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

type createPipelineRequest struct {
	Name httpx.Optional[string] `json:"name" doc:"Display name, 1 to 200 characters"`
	PipelineFields
}

func (b *createPipelineRequest) toPatch() deals.PipelinePatch {
	return b.PipelineFields.toPatch(b.Name)
}

type updatePipelineRequest struct {
	Name httpx.Optional[string] `json:"name" required:"false" doc:"Display name, 1 to 200 characters; not null"`
	PipelineFields
}

func (b *updatePipelineRequest) toPatch() deals.PipelinePatch {
	return b.PipelineFields.toPatch(b.Name)
}

func (a *App) listPipelines(ctx context.Context, in *struct {
	httpx.Page
	httpx.Counted
	Archived bool `query:"archived" doc:"List archived pipelines instead of live ones"`
},
) (*recordList[deals.Pipeline], error) {
	count := func(ctx context.Context, tx *postgres.Tx) (int64, error) {
		return deals.CountPipelines(ctx, tx, in.Archived)
	}
	return listHandler(ctx, a, in.Page, in.Count, listing[deals.Pipeline]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]deals.PipelineRow,
			error,
		) {
			return deals.ListPipelines(ctx, tx, in.Archived, after, limit)
		},
		position: deals.PipelinePosition, count: count, estimate: count,
	})
}
