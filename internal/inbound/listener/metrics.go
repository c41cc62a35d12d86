package listener

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the Prometheus metrics of a listener. A nil *Metrics counts nothing.
type Metrics struct{ refused *prometheus.CounterVec }

// NewMetrics registers
//
//	funnelwork_inbound_refused_total{reason="address"|"network"|"all"|"commands"|"recipients"|"line"|"memory"}
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "funnelwork_inbound_refused_total",
		Help: "Connections, sessions and mails that a limit of the listener for incoming mails has refused.",
	}, []string{"reason"})}
	reg.MustRegister(m.refused)
	return m
}

func (m *Metrics) countRefused(reason string) {
	if m != nil {
		m.refused.WithLabelValues(reason).Inc()
	}
}
