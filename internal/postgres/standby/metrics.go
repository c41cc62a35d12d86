package standby

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the Prometheus metrics of the package.
type Metrics struct {
	reads  *prometheus.CounterVec
	lag    prometheus.Gauge
	unused prometheus.Gauge
}

// NewMetrics registers the package's metrics with reg. With a nil reg it creates them unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_standby_reads_total",
			Help: "Reads that may go to a standby, by use and by the reason why one went to the primary; the " +
				"reason is empty for reads from the standby.",
		}, []string{"use", "reason"}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_standby_lag_seconds",
			Help: "Age of the standby's rows at the last probe that it answered; 0 without a standby.",
		}),
		unused: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_standby_unused",
			Help: "1 while a standby is configured and all reads go to the primary.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.reads, m.lag, m.unused)
	}
	return m
}

func (m *Metrics) countRead(use Use, why reason) {
	m.reads.WithLabelValues(string(use), string(why)).Inc()
}
