package limits

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the Prometheus metrics of a limiter. A nil *Metrics counts nothing.
type Metrics struct {
	decisions *prometheus.CounterVec
	seconds   prometheus.Histogram
	alone     prometheus.Gauge
	aloneOld  prometheus.Gauge // deprecated name of alone
}

// NewMetrics registers
//
//	funnelwork_limiter_decisions_total{outcome="admitted"|"refused", by="redis"|"process"|"memory"}
//	funnelwork_limiter_decision_seconds
//	funnelwork_limiter_degraded        1 while Redis is unavailable
//	funnelwork_limiter_degraded_state  the same, deprecated
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_limiter_decisions_total", Help: "Rate limit decisions by outcome and decider.",
		}, []string{"outcome", "by"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "funnelwork_limiter_decision_seconds", Help: "Duration of a decision, except refusals from memory.",
			Buckets: []float64{.00005, .0001, .0002, .0005, .001, .002, .005, .01, .05, .1},
		}),
		alone: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_limiter_degraded", Help: "1 while Redis is down and the process decides alone.",
		}),
		aloneOld: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_limiter_degraded_state", Help: "Deprecated: use funnelwork_limiter_degraded.",
		}),
	}
	reg.MustRegister(m.decisions, m.seconds, m.alone, m.aloneOld)
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
	if m == nil {
		return
	}
	value := 0.0
	if is {
		value = 1
	}
	m.alone.Set(value)
	m.aloneOld.Set(value)
}
