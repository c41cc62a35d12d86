package replyjournal

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/emails"
)

// metrics has no org in any label.
type metrics struct {
	waiting, stored prometheus.Gauge
	results         *prometheus.CounterVec // by result
	dropped         prometheus.Counter
}

// newMetrics registers the metrics with reg, if it is not nil.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_email_replies_waiting",
			Help: "Final replies of mail servers whose runs have ended and that Postgres has not taken.",
		}),
		stored: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_email_replies_stored",
			Help: "Final replies of mail servers in the journal's file.",
		}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_email_replies_replayed_total",
			Help: "Final replies of mail servers written after their run: sent, failed, or obsolete.",
		}, []string{"result"}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "funnelwork_email_replies_dropped_total",
			Help: "Final replies of mail servers that were not kept, since the journal was full.",
		}),
	}
	for _, result := range []emails.Replayed{emails.ReplayedSent, emails.ReplayedFailed, emails.Obsolete} {
		m.results.WithLabelValues(string(result))
	}
	if reg != nil {
		reg.MustRegister(m.waiting, m.stored, m.results, m.dropped)
	}

	return m
}

func (m *metrics) countReplayed(result emails.Replayed, n int) {
	if result != emails.Waits {
		m.results.WithLabelValues(string(result)).Add(float64(n))
	}
}
