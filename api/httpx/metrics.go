package httpx

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// Metrics are the metrics of API requests. A nil *Metrics records nothing. Labels are routes as mounted, never paths,
// ids or orgs, so their number is bounded.
type Metrics struct {
	requests *prometheus.HistogramVec
}

// NewMetrics returns Metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "funnelwork_api_request_duration_seconds",
		Help:    "Time from a request's headers to its response, by mounted route and status class.",
		Buckets: []float64{.001, .0025, .005, .01, .02, .035, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
	}, []string{"method", "route", "status"})}
	reg.MustRegister(m.requests)
	return m
}

// Observe records one request, with the trace in ctx as its exemplar. route is the path template, or "" if no route
// matched.
func (m *Metrics) Observe(ctx context.Context, method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	if route == "" {
		route = "none"
	}
	histogram := m.requests.WithLabelValues(methodLabel(method), route, strconv.Itoa(status/100)+"xx")
	spans.Observe(ctx, histogram, took.Seconds())
}

// methodLabel returns the method, or "other" for a method that the API does not know: a caller may send any word.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete,
		http.MethodOptions:
		return method
	default:
		return "other"
	}
}
