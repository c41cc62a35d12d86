package spans_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// deep returns a context that is as deep as those of requests and jobs, and has no span.
func deep(ctx context.Context) context.Context {
	type key int
	for k := range key(12) {
		ctx = context.WithValue(ctx, k, k)
	}
	return ctx
}

// BenchmarkNotTraced is what a place that traces costs where nothing is traced. deploy/bench's traces runs it.
func BenchmarkNotTraced(b *testing.B) {
	ctx := deep(b.Context())
	b.Run("start", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, span := spans.Start(ctx, "none", trace.SpanKindClient)
			if span.IsRecording() {
				b.Fatal("a span is recorded")
			}
		}
	})
	b.Run("traceparent", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if spans.Traceparent(ctx) != "" {
				b.Fatal("there is a traceparent")
			}
		}
	})
}
