package worker

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/telemetry"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// traceAge is the age of a job from which its runs no longer belong to the trace in which it was added.
const traceAge = time.Hour

// startSpan starts the span of a run, in the trace in which its job was added. A run of the bulk lane or of a job that
// is older than traceAge has a trace of its own, linked to that one: a broadcast or a sequence would otherwise be one
// trace of any size and duration. The handler h has the kind's name, although the row may have the alias. The jobs
// that the platform adds for itself every few seconds are traced only if they were added in a trace.
func (w *Worker) startSpan(ctx context.Context, h queue.Handler, c *queue.Claimed) trace.Span {
	if w.opt.Tracer == nil || c.Org.IsZero() && c.Traceparent == "" {
		return trace.SpanFromContext(ctx)
	}
	_, span := w.opt.Tracer.Job(ctx, spans.Job{
		Kind: h.Kind, Traceparent: c.Traceparent,
		Apart: c.Lane == queue.Bulk || time.Since(c.CreatedAt) > traceAge,
		Attributes: []attribute.KeyValue{
			attribute.String("job_id", c.ID.String()), attribute.String("org_id", c.Org.String()),
			attribute.String("lane", string(c.Lane)), attribute.Int("attempt", c.Attempt),
			attribute.Int64("wait_ms", c.Waited.Milliseconds()),
		},
	})
	return span
}

// withSpan returns ctx with the span, and with its trace id for log lines. It returns ctx if the span is not recorded.
func withSpan(ctx context.Context, span trace.Span) context.Context {
	if !span.IsRecording() {
		return ctx
	}
	return telemetry.With(trace.ContextWithSpan(ctx, span),
		slog.String(telemetry.Trace, span.SpanContext().TraceID().String()))
}

// endSpan ends the span of a run.
func endSpan(span trace.Span, outcome string) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("outcome", outcome))
	switch outcome {
	case string(store.Done), string(store.Snoozed), string(store.Released):
	default:
		spans.Fail(span)
	}
	span.End()
}
