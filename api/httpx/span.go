package httpx

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/telemetry"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// startSpan returns ctx with the span of the request, and with its trace id for log lines.
func (s *Server) startSpan(ctx context.Context, c *fiber.Ctx) (context.Context, trace.Span) {
	if s.Tracer == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	ctx, span := s.Tracer.Request(ctx, strings.Clone(c.Get("traceparent"))) // fiber reuses its buffer
	if span.IsRecording() {
		ctx = telemetry.With(ctx, slog.String(telemetry.Trace, span.SpanContext().TraceID().String()))
	}
	return ctx, span
}

// endSpan ends the span of a request. Its name contains the route and never the path, which may contain a token.
func endSpan(c *fiber.Ctx, r *Request, span trace.Span) {
	if !span.IsRecording() {
		return
	}

	method := methodLabel(c.Method())
	route := "none"
	if r.Op != nil {
		route = r.Op.Path
	}

	status := c.Response().StatusCode()
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status), attribute.String("request_id", r.ID))
	if !r.Org.IsZero() {
		span.SetAttributes(attribute.String("org_id", r.Org.String()))
	}
	if status >= http.StatusInternalServerError {
		spans.Fail(span)
	}

	span.End()
}
