package dispatch

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts jobs on their way from the commit into asynq.
type Metrics struct {
	pushes  *prometheus.CounterVec // by result
	breaker prometheus.Gauge
}

// NewMetrics returns metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		pushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_queue_pushes_total",
			Help: "Jobs handed to asynq after their commit: ok, failed, or dropped (full, or breaker open). The " +
				"relay enqueues failed and dropped jobs.",
		}, []string{"result"}),
		breaker: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_queue_push_breaker_open",
			Help: "1 while the circuit breaker for enqueueing after commits is open because Redis failed.",
		}),
	}
	for _, r := range []string{"ok", "failed", "dropped"} {
		m.pushes.WithLabelValues(r)
	}
	reg.MustRegister(m.pushes, m.breaker)
	return m
}
