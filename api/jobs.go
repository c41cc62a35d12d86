package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/progress"
)

const jobsPath = "/api/v1/jobs"

func (a *App) mountJobs() {
	const tag = "Jobs"
	httpx.Route(a.Server, httpx.Op{
		ID:     "jobs.list",
		Method: http.MethodGet, Path: jobsPath, Need: httpx.Viewer, Tag: tag,
		Title: "List imports, exports, bulk changes, replays and trainings, newest first",
	}, a.listJobs)
	httpx.Route(a.Server, httpx.Op{
		ID:     "jobs.get",
		Method: http.MethodGet, Path: jobsPath + "/{id}", Need: httpx.Viewer, Tag: tag,
		Title: "Get the progress of a job",
	}, a.getJob)
}

type jobList struct {
	Body httpx.List[progress.Job]
}

type jobQuery struct {
	httpx.Page
	Kind   string `query:"kind" enum:"import,export,bulk,replay,enrollment,broadcast,merge,train,suppression_import,sequence_move" doc:"Only this kind"` //nolint:lll // a tag cannot be broken
	Status string `query:"status" enum:"queued,running,completed,failed,cancelled" doc:"Only this status"`
}

func (a *App) listJobs(ctx context.Context, in *jobQuery) (*jobList, error) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*jobList, error) {
		rows, err := progress.List(ctx, tx, progress.Filter{Kind: in.Kind, Status: in.Status}, before, in.Limit+1)
		if err != nil {
			return nil, err
		}
		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(j progress.Job) progress.Job { return j }, func(j progress.Job) id.ID { return j.ID })
		return &jobList{l}, err
	})
}

// JobID is the path parameter of one job.
type JobID struct {
	ID id.ID `path:"id" format:"uuid" doc:"Id of the job, from the list of jobs or a Location"`
}

type jobOut struct {
	httpx.Tagged
	Body progress.Job
}

func (a *App) getJob(ctx context.Context, in *JobID) (*jobOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*jobOut, error) {
		j, err := progress.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		tag, err := httpx.Digest(j)
		return &jobOut{tag, j}, err
	})
}
