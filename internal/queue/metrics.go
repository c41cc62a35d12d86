package queue

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the way from the commit into asynq.
type Metrics struct {
	pushes  *prometheus.CounterVec // by result
	breaker prometheus.Gauge
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		pushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_queue_pushes_total",
			Help: "Jobs handed to asynq after their commit: ok, failed, or dropped (full, or breaker open). The relay brings the latter two.",
		}, []string{"result"}),
		breaker: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_queue_push_breaker_open",
			Help: "1 while pushes after a commit are not tried because Redis failed.",
		}),
	}
	for _, r := range []string{"ok", "failed", "dropped"} {
		m.pushes.WithLabelValues(r)
	}
	reg.MustRegister(m.pushes, m.breaker)
	return m
}
