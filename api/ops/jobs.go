package ops

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/jobs/platformredrive"
)

const jobsPath = "/jobs/"

func newJobsAPI(o Options) (*jobsAPI, error) {
	if o.System == nil {
		return nil, nil //nolint:nilnil // a listener without jobs is an answer
	}

	client, err := redisx.Open(o.RedisURL, redisx.Worker)
	if err != nil {
		return nil, err
	}

	jobStore := store.New(o.DB, o.System)
	jobStore.Hooks = o.Hooks
	jobStore.Aliases = o.Aliases
	d := &jobsAPI{
		operator: operator.New(jobStore, client), store: jobStore, redis: client,
		readOnly: o.ReadOnly, actor: o.User, log: o.Log,
	}
	if d.actor == "" {
		d.actor = "ops"
	}

	return d, nil
}

func (a *jobsAPI) close() error {
	if a == nil {
		return nil
	}
	return a.redis.Close()
}

// mountRoutes adds the paths to mux, behind the listener's guard.
func (a *jobsAPI) mountRoutes(mux *routes) {
	if a == nil {
		return
	}
	mux.add(
		a,
		route{
			pattern: "GET /jobs/{$}", summary: "Search jobs, newest first", h: a.searchJobs, out: page[operator.Job]{},
			query: []string{"state", "kind", "lane", "org_id", "error", "after", "before", "id", "limit", "cursor"},
		},
		route{pattern: "GET /jobs/backlog", summary: "The backlog of each lane", h: a.showBacklog, out: backlogs{}},
		route{pattern: "GET /jobs/{org}/{id}", summary: "A job", h: a.showJob, out: operator.Job{}},
		route{
			pattern: "POST /jobs/{org}/{id}/run", summary: "Run a job now; null if it has ended",
			h: a.actionHandler(a.operator.Run), in: reasonBody{}, out: &operator.Job{},
		},
		route{
			pattern: "POST /jobs/{org}/{id}/archive", summary: "Make a job dead",
			h: a.actionHandler(a.operator.Archive), in: reasonBody{}, out: &operator.Job{},
		},
		route{
			pattern: "DELETE /jobs/{org}/{id}", summary: "Delete a job", h: a.dropJob, query: []string{"reason"},
		},
		route{
			pattern: "POST /jobs/drop", summary: "Delete the jobs that match", h: a.dropMatching, in: dropBody{},
			out: dropped{},
		},
		route{
			pattern: "POST /jobs/redrive", summary: "Run the dead jobs that match again", h: a.startRedrive,
			in: redriveBody{}, out: operator.Redrive{}, status: []int{http.StatusAccepted},
		},
		route{pattern: "GET /jobs/redrives", summary: "All redrives", h: a.listRedrives, out: list[operator.Redrive]{}},
		route{pattern: "DELETE /jobs/redrives/{id}", summary: "Cancel a redrive", h: a.cancelRedrive},
		route{pattern: "GET /jobs/pauses", summary: "What is paused", h: a.listPauses, out: list[operator.Pause]{}},
		route{
			pattern: "POST /jobs/pauses", summary: "Pause a lane, a kind or an org; 200 if it was paused",
			h: a.startPause, in: pauseBody{}, out: paused{}, status: []int{http.StatusCreated, http.StatusOK},
		},
		route{
			pattern: "DELETE /jobs/pauses", summary: "End a pause", h: a.endPause,
			query: []string{"scope", "name", "reason"},
		},
		route{
			pattern: "GET /jobs/weights", summary: "Orgs with more than one part of the slots", h: a.listWeights,
			out: list[operator.Weight]{},
		},
		route{
			pattern: "PUT /jobs/weights/{org}", summary: "Set an org's part of the slots, 1 to 100", h: a.setWeight,
			in: weightBody{}, out: operator.Weight{},
		},
		route{
			pattern: "GET /jobs/acts", summary: "The audit log of jobs, newest first", h: a.listAudit,
			query: []string{"limit", "cursor"}, out: page[operator.AuditEntry]{},
		},
	)
}

// The bodies of requests and answers that no other package has.
type (
	reasonBody struct {
		Reason reason `json:"reason"`
	}
	dropBody struct {
		Filter operator.Filter `json:"filter"`
		Reason reason          `json:"reason"`
	}
	dropped struct {
		Dropped int  `json:"dropped"`
		More    bool `json:"more"`
	}
	redriveBody struct {
		Filter operator.Filter `json:"filter"`
		Rate   int             `json:"rate"`
		Reason reason          `json:"reason"`
	}
	pauseBody struct {
		Scope  string `json:"scope"`
		Name   string `json:"name"`
		Reason reason `json:"reason"`
	}
	paused struct {
		Name  string `json:"name"`
		Scope string `json:"scope"`
	}
	weightBody struct {
		Weight int    `json:"weight"`
		Reason reason `json:"reason"`
	}
)

func (a *jobsAPI) actorWith(reason string) operator.By {
	return operator.By{Actor: a.actor, Reason: reason}
}

var (
	errNoJob  = &requestError{http.StatusNotFound, "there is no such job"}
	errHeld   = &requestError{http.StatusConflict, "a run has this job: wait for its end, or cancel it"}
	errDead   = &requestError{http.StatusConflict, "it is dead already"}
	errNoSuch = &requestError{http.StatusNotFound, "there is none"}
)

// resultError returns the error for a result, or nil for operator.Acted.
func resultError(r operator.Result) error {
	switch r {
	case operator.Held:
		return errHeld
	case operator.Gone:
		return errNoJob
	case operator.Unfit:
		return errDead
	case operator.Acted:
	}
	return nil
}

func keyOf(r *http.Request) (k operator.Key, err error) {
	var orgErr, idErr error
	k.Org, orgErr = id.Parse(r.PathValue("org"))
	k.ID, idErr = id.Parse(r.PathValue("id"))
	if orgErr != nil || idErr != nil {
		return k, errNoJob
	}
	return k, nil
}

func (a *jobsAPI) showJob(r *http.Request) (int, any, error) {
	k, err := keyOf(r)
	if err != nil {
		return 0, nil, err
	}
	j, err := a.operator.Show(r.Context(), k)
	if err == nil && j == nil {
		err = errNoJob
	}
	return http.StatusOK, j, err
}

// actionHandler returns a handler that runs or archives one job. It responds with the job afterwards, or null if it has
// finished.
func (a *jobsAPI) actionHandler(
	act func(context.Context, operator.By, ...operator.Key) ([]operator.Result, error),
) jobsHandler {
	return func(r *http.Request) (int, any, error) {
		var in reasonBody
		k, err := keyOf(r)
		if err == nil {
			err = readJSON(r, &in)
		}
		if err != nil {
			return 0, nil, err
		}

		results, err := act(r.Context(), a.actorWith(string(in.Reason)), k)
		if err == nil {
			err = resultError(results[0])
		}
		if err != nil {
			return 0, nil, err
		}

		j, err := a.operator.Show(r.Context(), k)

		return http.StatusOK, j, err
	}
}

func (a *jobsAPI) dropJob(r *http.Request) (int, any, error) {
	k, err := keyOf(r)
	if err != nil {
		return 0, nil, err
	}

	q, err := readQuery(r, "reason")
	if err != nil {
		return 0, nil, err
	}

	results, err := a.operator.Drop(r.Context(), a.actorWith(q.Get("reason")), k)
	if err == nil {
		err = resultError(results[0])
	}

	return http.StatusNoContent, nil, err
}

func (a *jobsAPI) dropMatching(r *http.Request) (int, any, error) {
	var in dropBody
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	if err := in.Filter.Check(); err != nil {
		return 0, nil, err
	}
	n, more, err := a.operator.DropMatching(r.Context(), a.actorWith(string(in.Reason)), in.Filter, oneCall)
	return http.StatusOK, dropped{n, more}, err
}

func (a *jobsAPI) startRedrive(r *http.Request) (int, any, error) {
	var in redriveBody
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	if err := in.Filter.Check(); err != nil {
		return 0, nil, err
	}
	out, err := a.operator.StartRedrive(r.Context(), a.actorWith(string(in.Reason)), in.Filter, in.Rate, askRedrive)
	return http.StatusAccepted, out, err
}

func askRedrive(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	return platformredrive.Kind.Add(ctx, tx, platformredrive.Args{Redrive: which})
}

func (a *jobsAPI) listRedrives(r *http.Request) (int, any, error) {
	out, err := a.operator.Redrives(r.Context())
	return http.StatusOK, dataOf(out), err
}

func (a *jobsAPI) cancelRedrive(r *http.Request) (int, any, error) {
	which, err := id.Parse(r.PathValue("id"))
	if err != nil {
		return 0, nil, errNoSuch
	}
	done, err := a.operator.CancelRedrive(r.Context(), a.actorWith(""), which)
	if err == nil && !done {
		err = &requestError{http.StatusNotFound, "there is no such redrive, or it has ended"}
	}
	return http.StatusNoContent, nil, err
}

func (a *jobsAPI) listPauses(r *http.Request) (int, any, error) {
	out, err := a.operator.Pauses(r.Context())
	return http.StatusOK, dataOf(out), err
}

func (a *jobsAPI) startPause(r *http.Request) (int, any, error) {
	var in pauseBody
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	changed, err := a.operator.Pause(r.Context(), a.actorWith(string(in.Reason)), in.Scope, in.Name)
	status := http.StatusOK
	if changed {
		status = http.StatusCreated
	}
	return status, paused{Name: in.Name, Scope: in.Scope}, err
}

func (a *jobsAPI) endPause(r *http.Request) (int, any, error) {
	q, err := readQuery(r, "scope", "name", "reason")
	if err != nil {
		return 0, nil, err
	}
	changed, err := a.operator.Resume(r.Context(), a.actorWith(q.Get("reason")), q.Get("scope"), q.Get("name"))
	if err == nil && !changed {
		err = errNoSuch
	}
	return http.StatusNoContent, nil, err
}

func (a *jobsAPI) listWeights(r *http.Request) (int, any, error) {
	out, err := a.operator.Weights(r.Context())
	return http.StatusOK, dataOf(out), err
}

func (a *jobsAPI) setWeight(r *http.Request) (int, any, error) {
	var in weightBody
	org, err := id.Parse(r.PathValue("org"))
	if err != nil {
		return 0, nil, errNoSuch
	}
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	_, err = a.operator.SetWeight(r.Context(), a.actorWith(string(in.Reason)), org, in.Weight)
	return http.StatusOK, operator.Weight{Org: org, Weight: in.Weight}, err
}

func (a *jobsAPI) listAudit(r *http.Request) (int, any, error) {
	q, err := readQuery(r, "limit", "cursor")
	if err != nil {
		return 0, nil, err
	}
	out, err := pageByID(q, func(before *id.ID, limit int) ([]operator.AuditEntry, error) {
		return a.operator.AuditLog(r.Context(), limit, before)
	}, func(row operator.AuditEntry) id.ID { return row.ID })
	return http.StatusOK, out, err
}
