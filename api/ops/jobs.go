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
	for pattern, h := range map[string]jobsHandler{
		"GET /jobs/{$}":                 d.search,
		"GET /jobs/backlog":             d.backlog,
		"GET /jobs/{org}/{id}":          d.show,
		"POST /jobs/{org}/{id}/run":     d.acts(d.operator.Run),
		"POST /jobs/{org}/{id}/archive": d.acts(d.operator.Archive),
		"DELETE /jobs/{org}/{id}":       d.drop,
		"POST /jobs/drop":               d.dropMatching,
		"POST /jobs/redrive":            d.startRedrive,
		"GET /jobs/redrives":            d.redrives,
		"DELETE /jobs/redrives/{id}":    d.cancelRedrive,
		"GET /jobs/pauses":              d.pauses,
		"POST /jobs/pauses":             d.pause,
		"DELETE /jobs/pauses":           d.resume,
		"GET /jobs/weights":             d.weights,
		"PUT /jobs/weights/{org}":       d.setWeight,
		"GET /jobs/acts":                d.audit,
	} {
		mux.json(pattern, d.handle(h))
	}
}

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
		var in struct {
			Reason string `json:"reason"`
		}
		k, err := keyOf(r)
		if err == nil {
			err = readJSON(r, &in)
		}
		if err != nil {
			return 0, nil, err
		}
		results, err := act(r.Context(), d.by(in.Reason), k)
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
	var in struct {
		Filter operator.Filter `json:"filter"`
		Reason string          `json:"reason"`
	}
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	if err := in.Filter.Check(); err != nil {
		return 0, nil, err
	}
	n, more, err := d.operator.DropMatching(r.Context(), d.by(in.Reason), in.Filter, oneCall)
	return http.StatusOK, map[string]any{"dropped": n, "more": more}, err
}

func (d *jobsAPI) startRedrive(r *http.Request) (int, any, error) {
	var in struct {
		Filter operator.Filter `json:"filter"`
		Rate   int             `json:"rate"`
		Reason string          `json:"reason"`
	}
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	if err := in.Filter.Check(); err != nil {
		return 0, nil, err
	}
	out, err := d.operator.StartRedrive(r.Context(), d.by(in.Reason), in.Filter, in.Rate, askRedrive)
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
	var in struct {
		Scope  string `json:"scope"`
		Name   string `json:"name"`
		Reason string `json:"reason"`
	}
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	changed, err := d.operator.Pause(r.Context(), d.by(in.Reason), in.Scope, in.Name)
	status := http.StatusOK
	if changed {
		status = http.StatusCreated
	}
	return status, map[string]string{"scope": in.Scope, "name": in.Name}, err
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
	var in struct {
		Weight int    `json:"weight"`
		Reason string `json:"reason"`
	}
	org, err := id.Parse(r.PathValue("org"))
	if err != nil {
		return 0, nil, errNoSuch
	}
	if err := readJSON(r, &in); err != nil {
		return 0, nil, err
	}
	_, err = d.operator.SetWeight(r.Context(), d.by(in.Reason), org, in.Weight)
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
