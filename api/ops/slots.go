package ops

import (
	"fmt"
	"net/http"
)

// mostSlots is the maximum concurrency of a worker.
const mostSlots = 1000

// mountSlots adds GET and PUT /workers/concurrency if this process runs jobs.
func (o Options) mountSlots(mux *routes, d *jobsAPI) {
	if o.Worker == nil || d == nil {
		return
	}

	type slots struct {
		Concurrency int `json:"concurrency"`
	}
	read := func(*http.Request) (int, any, error) { return http.StatusOK, slots{o.Worker.Concurrency()}, nil }
	set := func(r *http.Request) (int, any, error) {
		var in slots
		if err := readJSON(r, &in); err != nil {
			return 0, nil, err
		}
		if in.Concurrency < 1 || in.Concurrency > mostSlots {
			return 0, nil, &requestError{http.StatusUnprocessableEntity, fmt.Sprintf("concurrency: 1 to %d", mostSlots)}
		}

		by := d.actorWith("")
		by.Scope = fmt.Sprintf("%s: %d, was %d", o.Role, in.Concurrency, o.Worker.Concurrency())
		if err := o.Worker.SetConcurrency(r.Context(), in.Concurrency); err != nil {
			return 0, nil, err
		}

		return http.StatusOK, slots{o.Worker.Concurrency()}, d.operator.Audit(r.Context(), by, "concurrency")
	}
	mux.add(
		d,
		route{
			pattern: "GET /workers/concurrency", summary: "Jobs that this process runs at once", h: read, out: slots{},
		},
		route{
			pattern: "PUT /workers/concurrency", summary: "Change it until the process ends", h: set, in: slots{},
			out: slots{},
		},
	)
}
