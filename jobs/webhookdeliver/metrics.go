package webhookdeliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Metrics of deliveries. A nil *Metrics counts nothing.
type Metrics struct {
	attempts *prometheus.CounterVec
	endings  *prometheus.CounterVec
	took     prometheus.Histogram
	tookOld  prometheus.Histogram // deprecated name of took
	first    prometheus.Histogram
	flying   prometheus.Gauge
	states   *prometheus.GaugeVec // of endpoints
}

// NewMetrics returns metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_webhook_attempts_total", Help: "Attempts by error class; empty for a success.",
		}, []string{"error_class"}),
		endings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_webhook_deliveries_total", Help: "Ended deliveries by status.",
		}, []string{"status"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "funnelwork_webhook_attempt_duration_seconds", Help: "Duration of an attempt.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}),
		tookOld: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "funnelwork_webhook_attempt_seconds",
			Help:    "Deprecated: use funnelwork_webhook_attempt_duration_seconds.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}),
		first: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "funnelwork_webhook_first_attempt_seconds", Help: "From the event to the start of its first attempt.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		flying: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_webhook_in_flight", Help: "Attempts of this process that wait for a response.",
		}),
	}
	for _, s := range []webhooks.Status{webhooks.Delivered, webhooks.Exhausted, webhooks.Discarded} {
		m.endings.WithLabelValues(string(s))
	}

	m.states = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "funnelwork_webhook_endpoints",
		Help: "Endpoints that are not well: failing, open (their circuit), disabled (by the platform). Every " +
			"worker reports all endpoints.",
	}, []string{"state"})
	for _, s := range []string{"failing", "open", "disabled"} {
		m.states.WithLabelValues(s)
	}

	reg.MustRegister(m.attempts, m.endings, m.took, m.tookOld, m.first, m.flying, m.states)
	return m
}

// countAttempt records an attempt. The trace in ctx is the exemplar of its durations.
func (m *Metrics) countAttempt(ctx context.Context, p *webhooks.DeliveryRequest, o *webhooks.Outcome) {
	if m == nil {
		return
	}
	m.attempts.WithLabelValues(o.Class).Inc()
	spans.Observe(ctx, m.took, o.Answer.Timings.Total.Seconds())
	m.tookOld.Observe(o.Answer.Timings.Total.Seconds())
	if p.Status == webhooks.Pending {
		spans.Observe(ctx, m.first, max(0, o.Started.Sub(p.Made)).Round(time.Microsecond).Seconds())
	}
	if o.Status != webhooks.Failed {
		m.countEnding(string(o.Status))
	}
}

// watchEvery is the interval between counts of the endpoints.
const watchEvery = 20 * time.Second

// Watch counts the unhealthy endpoints until ctx ends. db must have the System role.
func (m *Metrics) Watch(ctx context.Context, db *postgres.DB, log *slog.Logger) error {
	for {
		counting, cancel := context.WithTimeout(ctx, watchEvery/2)
		n, err := webhooks.CountUnwell(counting, db)
		cancel()
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "failed to count unhealthy webhooks", "error", err)
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

// beginAttempt counts an attempt as in flight until done is called.
func (m *Metrics) beginAttempt() (done func()) {
	if m == nil {
		return func() {}
	}
	m.flying.Inc()
	return m.flying.Dec
}

func (m *Metrics) countEnding(status string) {
	if m != nil {
		m.endings.WithLabelValues(status).Inc()
	}
}
