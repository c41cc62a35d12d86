package limits

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics of a limiter. A nil *Metrics counts nothing.
type Metrics struct {
	decisions *prometheus.CounterVec
	seconds   prometheus.Histogram
	alone     prometheus.Gauge
}

// NewMetrics registers
//
//	funnelwork_limiter_decisions_total{outcome="admitted"|"refused", by="redis"|"process"|"memory"}
//	funnelwork_limiter_decision_seconds
//	funnelwork_limiter_degraded_state  1 while Redis is away
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_limiter_decisions_total", Help: "Requests that were counted against a limit.",
		}, []string{"outcome", "by"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "funnelwork_limiter_decision_seconds", Help: "What one decision took, refusals from memory apart.",
			Buckets: []float64{.00005, .0001, .0002, .0005, .001, .002, .005, .01, .05, .1},
		}),
		alone: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_limiter_degraded_state", Help: "1 while Redis is away and the process decides alone.",
		}),
	}
	reg.MustRegister(m.decisions, m.seconds, m.alone)
	return m
}

func (m *Metrics) decided(d Decision, memory bool) {
	if m == nil {
		return
	}
	outcome, by := "refused", "redis"
	if d.Allowed {
		outcome = "admitted"
	}
	switch {
	case memory:
		by = "memory"
	case d.Degraded:
		by = "process"
	}
	m.decisions.WithLabelValues(outcome, by).Inc()
}

func (m *Metrics) took(d time.Duration) {
	if m != nil {
		m.seconds.Observe(d.Seconds())
	}
}

func (m *Metrics) degraded(is bool) {
	switch {
	case m == nil:
	case is:
		m.alone.Set(1)
	default:
		m.alone.Set(0)
	}
}
