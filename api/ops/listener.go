package ops

import (
	"net/http"
)

// Listener is the listener for operators: health, metrics and the job dashboard. It never shares the public port.
type Listener struct {
	Options
	handler http.Handler
	routes  []route // that speak JSON
	ready   *readiness
	queues  *dashboard
	jobs    *jobsAPI // nil without System
}
