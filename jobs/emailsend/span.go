package emailsend

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// startSpan starts the span of the dialogue with a mail server. It has ids, and no address and no text.
func startSpan(ctx context.Context, o *emails.Outgoing) (context.Context, trace.Span) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, trace.SpanFromContext(ctx)
	}
	return spans.Start(ctx, "mail", trace.SpanKindClient, attribute.String("email_id", o.ID.String()),
		attribute.String("mailbox_id", o.MailboxID.String()))
}

// endSpan ends the span that startSpan started.
func endSpan(span trace.Span, r *transport.Result) {
	if !span.IsRecording() {
		return
	}
	if r.Reply.Code != 0 {
		span.SetAttributes(attribute.Int("smtp.response.status_code", r.Reply.Code))
	}
	if r.Outcome != transport.Sent {
		spans.Fail(span)
	}
	span.End()
}
