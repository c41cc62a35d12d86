package webhookdeliver

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// startSpan starts the span of an attempt. It has ids and never the URL, whose path or query may be a secret.
func startSpan(ctx context.Context, p *webhooks.DeliveryRequest) (context.Context, trace.Span) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, trace.SpanFromContext(ctx)
	}
	return spans.Start(ctx, "webhook attempt", trace.SpanKindClient,
		attribute.String("delivery_id", p.Delivery.String()), attribute.String("endpoint_id", p.Endpoint.String()),
		attribute.String("event_id", p.EventID.String()), attribute.String("http.request.method", http.MethodPost))
}

// endSpan ends the span of an attempt that startSpan started.
func endSpan(span trace.Span, a *outbound.Answer) {
	if !span.IsRecording() {
		return
	}
	if a.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", a.Status))
	}
	if a.Err != nil {
		span.SetAttributes(attribute.String("error.type", string(a.Err.Class)))
	}
	if a.Err != nil || a.Status >= http.StatusMultipleChoices {
		spans.Fail(span)
	}
	span.End()
}
