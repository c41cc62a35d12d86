package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Metrics of the API's requests. A nil *Metrics counts nothing. Labels are routes as written in the code,
// never paths, ids or orgs, so that their number is fixed.
type Metrics struct {
	requests *prometheus.HistogramVec
}

// NewMetrics registers with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "funnelwork_api_request_duration_seconds",
		Help:    "Time from a request's headers to its answer, by route as mounted and class of status.",
		Buckets: []float64{.001, .0025, .005, .01, .02, .035, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
	}, []string{"method", "route", "status"})}
	reg.MustRegister(m.requests)
	return m
}

// Observe counts one answered request. route is the path template, or "" for what no route took.
func (m *Metrics) Observe(method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
}

// CollectPool shows the state of a pool of Postgres sessions under the given name.
func CollectPool(reg prometheus.Registerer, name string, db *postgres.DB) {
	labels := prometheus.Labels{"pool": name}
	gauge := func(what, help string, read func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "funnelwork_postgres_pool_" + what, Help: help, ConstLabels: labels},
			func() float64 { return read(db.Stat()) }))
	}
	counter := func(what, help string, read func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "funnelwork_postgres_pool_" + what, Help: help, ConstLabels: labels},
			func() float64 { return read(db.Stat()) }))
	}
	gauge("sessions_in_use", "Sessions that a transaction holds.", func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) })
	gauge("sessions_idle", "Sessions that wait for a transaction.", func(s *pgxpool.Stat) float64 { return float64(s.IdleConns()) })
	gauge("sessions_max", "Sessions that the pool may have.", func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) })
	counter("acquires_total", "Sessions given out.", func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) })
	counter("acquire_waits_total", "Sessions given out only after one came free or was made.", func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) })
	counter("acquire_seconds_total", "Time spent on getting a session.", func(s *pgxpool.Stat) float64 { return s.AcquireDuration().Seconds() })
	counter("sessions_opened_total", "Sessions opened since the start.", func(s *pgxpool.Stat) float64 { return float64(s.NewConnsCount()) })
}
