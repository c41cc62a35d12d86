package webhookdeliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Metrics of deliveries. A nil *Metrics counts nothing.
type Metrics struct {
	attempts *prometheus.CounterVec
	endings  *prometheus.CounterVec
	took     prometheus.Histogram
	first    prometheus.Histogram
	flying   prometheus.Gauge
	states   *prometheus.GaugeVec // of endpoints
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_webhook_attempts_total", Help: "Tries by error class; the class of a success is empty.",
		}, []string{"error_class"}),
		endings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_webhook_deliveries_total", Help: "Deliveries that came to an end, by status.",
		}, []string{"status"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "funnelwork_webhook_attempt_seconds", Help: "How long a try took.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}),
		first: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "funnelwork_webhook_first_attempt_seconds", Help: "From the event to the start of its first try.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		flying: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_webhook_in_flight", Help: "Tries that wait for their answer in this process.",
		}),
	}
	for _, s := range []webhooks.Status{webhooks.Delivered, webhooks.Exhausted, webhooks.Discarded} {
		m.endings.WithLabelValues(string(s))
	}
	m.states = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "funnelwork_webhook_endpoints", Help: "Endpoints that are not well: failing, open (their circuit), disabled (by the platform). Every worker counts all.",
	}, []string{"state"})
	for _, s := range []string{"failing", "open", "disabled"} {
		m.states.WithLabelValues(s)
	}
	reg.MustRegister(m.attempts, m.endings, m.took, m.first, m.flying, m.states)
	return m
}

func (m *Metrics) tried(p *webhooks.Parcel, o *webhooks.Outcome) {
	if m == nil {
		return
	}
	m.attempts.WithLabelValues(o.Class).Inc()
	m.took.Observe(o.Answer.Timings.Total.Seconds())
	if p.Status == webhooks.Pending {
		m.first.Observe(max(0, o.Started.Sub(p.Made)).Round(time.Microsecond).Seconds())
	}
	if o.Status != webhooks.Failed {
		m.ended(string(o.Status))
	}
}

// watchEvery spaces the counts of endpoints.
const watchEvery = 20 * time.Second

// Watch counts the endpoints that are not well until ctx ends; db is the System role's.
func (m *Metrics) Watch(ctx context.Context, db *postgres.DB, log *slog.Logger) error {
	for {
		counting, cancel := context.WithTimeout(ctx, watchEvery/2)
		n, err := webhooks.CountUnwell(counting, db)
		cancel()
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "failing webhooks not counted", "error", err)
		}
		if err == nil {
			m.states.WithLabelValues("failing").Set(float64(n.Failing))
			m.states.WithLabelValues("open").Set(float64(n.Open))
			m.states.WithLabelValues("disabled").Set(float64(n.Disabled))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// begin counts a try in flight until the answered function is called.
func (m *Metrics) begin() (done func()) {
	if m == nil {
		return func() {}
	}
	m.flying.Inc()
	return m.flying.Dec
}

func (m *Metrics) ended(status string) {
	if m != nil {
		m.endings.WithLabelValues(status).Inc()
	}
}
