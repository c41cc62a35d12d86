package spans

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Reasons for which spans are dropped.
const (
	queueFull    = "queue_full"
	exportFailed = "export_failed"
)

// Metrics of the export. A nil *Metrics counts nothing.
type Metrics struct {
	exported prometheus.Counter
	dropped  *prometheus.CounterVec // by reason
}

// NewMetrics returns metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		exported: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "funnelwork_trace_spans_exported_total", Help: "Spans that the OpenTelemetry collector has taken.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_trace_spans_dropped_total",
			Help: "Spans that were lost: queue_full, the process ended spans faster than the collector took them; " +
				"export_failed, the collector refused them or did not answer.",
		}, []string{"reason"}),
	}
	m.dropped.WithLabelValues(queueFull)
	m.dropped.WithLabelValues(exportFailed)
	reg.MustRegister(m.exported, m.dropped)

	return m
}

func (m *Metrics) countExported(n int) {
	if m != nil {
		m.exported.Add(float64(n))
	}
}

func (m *Metrics) countDropped(reason string, n int) {
	if m != nil {
		m.dropped.WithLabelValues(reason).Add(float64(n))
	}
}

// Observe adds a value to a histogram, with the trace of the context's span as its exemplar if that is recorded.
func Observe(ctx context.Context, to prometheus.Observer, value float64) {
	span := trace.SpanFromContext(ctx)
	histogram, ok := to.(prometheus.ExemplarObserver)
	if !ok || !span.IsRecording() {
		to.Observe(value)
		return
	}
	histogram.ObserveWithExemplar(value, prometheus.Labels{"trace_id": span.SpanContext().TraceID().String()})
}
