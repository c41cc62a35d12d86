package requestlog

import "github.com/prometheus/client_golang/prometheus"

// Metrics count entries. A nil *Metrics counts nothing.
type Metrics struct{ entries *prometheus.CounterVec }

// What became of an entry.
const (
	written = "written"
	dropped = "dropped" // too many were in memory
	failed  = "failed"  // Postgres did not take them
)

// NewMetrics returns Metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{entries: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "funnelwork_request_log_entries_total",
		Help: "API requests for the request log: written, or lost because too many waited (dropped) or Postgres " +
			"did not take them (failed).",
	}, []string{"result"})}
	for _, result := range []string{written, dropped, failed} {
		m.entries.WithLabelValues(result)
	}
	reg.MustRegister(m.entries)
	return m
}

func (m *Metrics) countEntries(result string, n int) {
	if m != nil {
		m.entries.WithLabelValues(result).Add(float64(n))
	}
}
