package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

func (a *App) mountBoard() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "pipelines.board",
		Method: http.MethodGet, Path: pipelinesPath + "/{id}/board", Need: httpx.Viewer, Tag: "Pipelines",
		Title: "Get a pipeline's board: count, sums and first deals of each stage",
	}, a.getBoard)
}

type boardIn struct {
	RecordID
	httpx.Page
	StageID string `query:"stage_id" format:"uuid" doc:"Only this stage of the pipeline"`
}

// boardStage is a stage of a board as the API shows it.
type boardStage struct {
	StageID    id.ID                  `json:"stage_id" format:"uuid" doc:"The stage of the pipeline"`
	Count      int64                  `json:"count" doc:"Live deals in the stage"`
	Sums       []deals.CurrencyAmount `json:"sums" nullable:"false" doc:"Total amounts of these deals, by currency"`
	Deals      []deals.BoardDeal      `json:"deals" nullable:"false" doc:"One page of these deals, by position"`
	NextCursor *string                `json:"next_cursor" doc:"For the next page of this stage; null on the last one"`
}

// pipelineBoard is a pipeline with the deals of its stages.
type pipelineBoard struct {
	PipelineID id.ID        `json:"pipeline_id" format:"uuid" doc:"The pipeline of the board"`
	Stages     []boardStage `json:"stages" nullable:"false" doc:"In pipeline order"`
}

type boardOut struct{ Body pipelineBoard }

func (a *App) getBoard(ctx context.Context, in *boardIn) (*boardOut, error) {
	only, err := uuidParameter("stage_id", in.StageID)
	if err != nil {
		return nil, err
	}

	after, err := httpx.After[record.Position](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*boardOut, error) {
		p, err := deals.GetPipeline(ctx, tx, in.ID, false)
		if err != nil {
			return nil, err
		}

		stages := []id.ID{}
		for _, s := range p.Value.Stages {
			if only == nil || s.ID == *only {
				stages = append(stages, s.ID)
			}
		}

		if len(stages) == 0 {
			return nil, fault.Parameter("stage_id", "unknown_stage", "The pipeline has no such stage.")
		}

		found, err := deals.Board(ctx, tx, stages, after, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &boardOut{Body: pipelineBoard{PipelineID: in.ID, Stages: make([]boardStage, len(found))}}
		for i := range found {
			if out.Body.Stages[i], err = a.showStage(ctx, &found[i], in.Limit); err != nil {
				return nil, err
			}
		}

		return out, nil
	})
}

// showStage returns a stage with at most limit deals, and the cursor of the request that shows the next ones.
func (a *App) showStage(ctx context.Context, s *deals.BoardStage, limit int) (out boardStage, err error) {
	out = boardStage{StageID: s.Stage, Count: s.Count, Sums: s.Sums, Deals: s.Deals}
	if len(s.Deals) > limit {
		out.Deals = s.Deals[:limit]
		out.NextCursor, err = httpx.CursorWith(ctx, a.Server, "stage_id", s.Stage.String(),
			deals.BoardPosition(&out.Deals[limit-1].Deal))
	}
	return out, err
}
