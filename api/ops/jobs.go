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
	ledger := store.New(o.DB, o.System)
	ledger.Hooks, ledger.Aliases = o.Hooks, o.Aliases
	d := &jobsAPI{
		operator: operator.New(ledger, client), store: ledger, redis: client, readOnly: o.ReadOnly, actor: o.User,
		log: o.Log,
	}
	if d.actor == "" {
		d.actor = "ops"
	}
	return d, nil
}

func (d *jobsAPI) close() error {
	if d == nil {
		return nil
	}
	return d.redis.Close()
}

// mount adds the paths to mux, behind the listener's guard.
func (d *jobsAPI) mount(mux *routes) {
	if d == nil {
		return
	}
	mux.add(
		d,
		route{
			pattern: "GET /jobs/{$}", summary: "Search jobs, newest first", h: d.search, out: page[operator.Job]{},
			query: []string{"state", "kind", "lane", "org_id", "error", "after", "before", "id", "limit", "cursor"},
		},
		route{pattern: "GET /jobs/backlog", summary: "The backlog of each lane", h: d.backlog, out: backlogs{}},
		route{pattern: "GET /jobs/{org}/{id}", summary: "A job", h: d.show, out: operator.Job{}},
		route{
			pattern: "POST /jobs/{org}/{id}/run", summary: "Run a job now; null if it has ended",
			h: d.acts(d.operator.Run), in: reasonBody{}, out: &operator.Job{},
		},
		route{
			pattern: "POST /jobs/{org}/{id}/archive", summary: "Make a job dead",
			h: d.acts(d.operator.Archive), in: reasonBody{}, out: &operator.Job{},
		},
		route{
			pattern: "DELETE /jobs/{org}/{id}", summary: "Delete a job", h: d.drop, query: []string{"reason"},
		},
		route{
			pattern: "POST /jobs/drop", summary: "Delete the jobs that match", h: d.dropMatching, in: dropBody{},
			out: dropped{},
		},
		route{
			pattern: "POST /jobs/redrive", summary: "Run the dead jobs that match again", h: d.startRedrive,
			in: redriveBody{}, out: operator.Redrive{}, status: []int{http.StatusAccepted},
		},
		route{pattern: "GET /jobs/redrives", summary: "All redrives", h: d.redrives, out: list[operator.Redrive]{}},
		route{pattern: "DELETE /jobs/redrives/{id}", summary: "Cancel a redrive", h: d.cancelRedrive},
		route{pattern: "GET /jobs/pauses", summary: "What is paused", h: d.pauses, out: list[operator.Pause]{}},
		route{
			pattern: "POST /jobs/pauses", summary: "Pause a lane, a kind or an org; 200 if it was paused", h: d.pause,
			in: pauseBody{}, out: paused{}, status: []int{http.StatusCreated, http.StatusOK},
		},
		route{
			pattern: "DELETE /jobs/pauses", summary: "End a pause", h: d.resume,
			query: []string{"scope", "name", "reason"},
		},
		route{
			pattern: "GET /jobs/weights", summary: "Orgs with more than one part of the slots", h: d.weights,
			out: list[operator.Weight]{},
		},
		route{
			pattern: "PUT /jobs/weights/{org}", summary: "Set an org's part of the slots, 1 to 100", h: d.setWeight,
			in: weightBody{}, out: operator.Weight{},
		},
		route{
			pattern: "GET /jobs/acts", summary: "The audit log of jobs, newest first", h: d.audit,
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

func (d *jobsAPI) by(reason string) operator.By { return operator.By{Actor: d.actor, Reason: reason} }

var (
	errNoJob  = &requestError{http.StatusNotFound, "there is no such job"}
	errHeld   = &requestError{http.StatusConflict, "a run has this job: wait for its end, or cancel it"}
	errDead   = &requestError{http.StatusConflict, "it is dead already"}
	errNoSuch = &requestError{http.StatusNotFound, "there is none"}
)

// refused returns the error for a result, or nil for operator.Acted.
func refused(r operator.Result) error {
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

func (d *jobsAPI) show(r *http.Request) (int, any, error) {
	k, err := keyOf(r)
	if err != nil {
		return 0, nil, err
	}
	j, err := d.operator.Show(r.Context(), k)
	if err == nil && j == nil {
		err = errNoJob
	}
	return http.StatusOK, j, err
}

// acts returns a handler that runs or archives one job. It responds with the job afterwards, or null if it has
// finished.
func (d *jobsAPI) acts(act func(context.Context, operator.By, ...operator.Key) ([]operator.Result, error)) jobsHandler {
	return func(r *http.Request) (int, any, error) {
		var in reasonBody
		k, err := keyOf(r)
		if err == nil {
			err = readJSON(r, &in)
		}
		if err != nil {
			return 0, nil, err
		}
		results, err := act(r.Context(), d.by(string(in.Reason)), k)
		if err == nil {
			err = refused(results[0])
		}
		if err != nil {
			return 0, nil, err
		}
		j, err := d.operator.Show(r.Context(), k)
		return http.StatusOK, j, err
	}
}

func (d *jobsAPI) drop(r *http.Request) (int, any, error) {
	k, err := keyOf(r)
	if err != nil {
		return 0, nil, err
	}
	q, err := readQuery(r, "reason")
	if err != nil {
		return 0, nil, err
	}
	results, err := d.operator.Drop(r.Context(), d.by(q.Get("reason")), k)
	if err == nil {
		err = refused(results[0])
	}
	return http.StatusNoContent, nil, err
}

func (d *jobsAPI) dropMatching(r *http.Request) (int, any, error) {
	var in dropBody
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	if err := in.Filter.Check(); err != nil {
		return 0, nil, err
	}
	n, more, err := d.operator.DropMatching(r.Context(), d.by(string(in.Reason)), in.Filter, oneCall)
	return http.StatusOK, dropped{n, more}, err
}

func (d *jobsAPI) startRedrive(r *http.Request) (int, any, error) {
	var in redriveBody
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	if err := in.Filter.Check(); err != nil {
		return 0, nil, err
	}
	out, err := d.operator.StartRedrive(r.Context(), d.by(string(in.Reason)), in.Filter, in.Rate, askRedrive)
	return http.StatusAccepted, out, err
}

func askRedrive(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	return platformredrive.Kind.Add(ctx, tx, platformredrive.Args{Redrive: which})
}

func (d *jobsAPI) redrives(r *http.Request) (int, any, error) {
	out, err := d.operator.Redrives(r.Context())
	return http.StatusOK, dataOf(out), err
}

func (d *jobsAPI) cancelRedrive(r *http.Request) (int, any, error) {
	which, err := id.Parse(r.PathValue("id"))
	if err != nil {
		return 0, nil, errNoSuch
	}
	done, err := d.operator.CancelRedrive(r.Context(), d.by(""), which)
	if err == nil && !done {
		err = &requestError{http.StatusNotFound, "there is no such redrive, or it has ended"}
	}
	return http.StatusNoContent, nil, err
}

func (d *jobsAPI) pauses(r *http.Request) (int, any, error) {
	out, err := d.operator.Pauses(r.Context())
	return http.StatusOK, dataOf(out), err
}

func (d *jobsAPI) pause(r *http.Request) (int, any, error) {
	var in pauseBody
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	changed, err := d.operator.Pause(r.Context(), d.by(string(in.Reason)), in.Scope, in.Name)
	status := http.StatusOK
	if changed {
		status = http.StatusCreated
	}
	return status, paused{Name: in.Name, Scope: in.Scope}, err
}

func (d *jobsAPI) resume(r *http.Request) (int, any, error) {
	q, err := readQuery(r, "scope", "name", "reason")
	if err != nil {
		return 0, nil, err
	}
	changed, err := d.operator.Resume(r.Context(), d.by(q.Get("reason")), q.Get("scope"), q.Get("name"))
	if err == nil && !changed {
		err = errNoSuch
	}
	return http.StatusNoContent, nil, err
}

func (d *jobsAPI) weights(r *http.Request) (int, any, error) {
	out, err := d.operator.Weights(r.Context())
	return http.StatusOK, dataOf(out), err
}

func (d *jobsAPI) setWeight(r *http.Request) (int, any, error) {
	var in weightBody
	org, err := id.Parse(r.PathValue("org"))
	if err != nil {
		return 0, nil, errNoSuch
	}
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	_, err = d.operator.SetWeight(r.Context(), d.by(string(in.Reason)), org, in.Weight)
	return http.StatusOK, operator.Weight{Org: org, Weight: in.Weight}, err
}

func (d *jobsAPI) audit(r *http.Request) (int, any, error) {
	q, err := readQuery(r, "limit", "cursor")
	if err != nil {
		return 0, nil, err
	}
	out, err := pageByID(q, func(before *id.ID, limit int) ([]operator.AuditEntry, error) {
		return d.operator.AuditLog(r.Context(), limit, before)
	}, func(row operator.AuditEntry) id.ID { return row.ID })
	return http.StatusOK, out, err
}
