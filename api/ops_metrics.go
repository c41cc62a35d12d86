package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/postgres"
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

// Observe records one request. route is the path template, or "" if no route matched.
func (m *Metrics) Observe(method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete,
		http.MethodOptions:
	default:
		method = "other"
	}
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
}

// CollectPool registers metrics of a Postgres pool under the given name.
func CollectPool(reg prometheus.Registerer, name string, db *postgres.DB) {
	labels := prometheus.Labels{"pool": name}
	gauge := func(what, help string, read func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "funnelwork_postgres_pool_" + what,
			Help: help, ConstLabels: labels,
		},
			func() float64 { return read(db.Stat()) }))
	}
	counter := func(what, help string, read func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "funnelwork_postgres_pool_" + what,
			Help: help, ConstLabels: labels,
		},
			func() float64 { return read(db.Stat()) }))
	}
	gauge("sessions_in_use", "Sessions that a transaction holds.", func(s *pgxpool.Stat) float64 {
		return float64(s.AcquiredConns())
	})
	gauge("sessions_idle", "Sessions that wait for a transaction.", func(s *pgxpool.Stat) float64 {
		return float64(s.IdleConns())
	})
	gauge("sessions_max", "Sessions that the pool may have.", func(s *pgxpool.Stat) float64 {
		return float64(s.MaxConns())
	})
	counter("acquires_total", "Sessions given out.", func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) })
	counter("acquire_waits_total", "Sessions given out only after one came free or was made.",
		func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) })
	counter("acquire_seconds_total", "Time spent on getting a session.", func(s *pgxpool.Stat) float64 {
		return s.AcquireDuration().Seconds()
	})
	counter("sessions_opened_total", "Sessions opened since the start.", func(s *pgxpool.Stat) float64 {
		return float64(s.NewConnsCount())
	})
}
