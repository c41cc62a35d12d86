package spans

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	// scope is the name of the instrumentation.
	scope = "github.com/funnelwork/funnelwork"
	// closeTime is the longest time for which Close waits for the collector.
	closeTime = 5 * time.Second
)

// Options configures a Tracer. Exporter and Log must be set.
type Options struct {
	Exporter sdk.SpanExporter
	// Share is the share of traces that are recorded, from 0 to 1. Where a trace begins, its id decides.
	Share   float64
	Service string // service.name
	Version string // service.version
	Log     *slog.Logger
	Metrics *Metrics // may be nil
}

// Tracer starts traces. A nil Tracer starts none. It is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	log      *slog.Logger
}

// New returns a tracer that exports spans in batches until Close.
func New(o Options) *Tracer {
	share := sdk.TraceIDRatioBased(o.Share)
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(newQueue(o)),
		// Job rows have the traceparent of recorded spans only, so a sampled remote parent is always followed. Request
		// takes the flag away from what a caller sends.
		sdk.WithSampler(sdk.ParentBased(share, sdk.WithRemoteParentNotSampled(share))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.namespace", "funnelwork"), attribute.String("service.name", o.Service),
			attribute.String("service.version", o.Version),
		)),
	)

	return &Tracer{provider: provider, tracer: provider.Tracer(scope), log: o.Log}
}

// Close exports the spans that have ended. Spans that the collector does not take within 5 s are lost, which is logged
// and is no error: the process ends as it would without a collector.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()

	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "the last spans are lost", "error", err)
	}
}

// Request starts the span of a request, in the trace of its traceparent header if that is valid. The share decides
// whether the trace is recorded here, not the caller.
func (t *Tracer) Request(ctx context.Context, traceparent string) (context.Context, trace.Span) {
	if t == nil {
		return ctx, noop.Span{}
	}

	ctx = withRemoteParent(ctx, traceparent)
	if caller := trace.SpanContextFromContext(ctx); caller.IsSampled() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, caller.WithTraceFlags(caller.TraceFlags().WithSampled(false)))
	}

	return t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
}

// Job is what the span of a run shows.
type Job struct {
	Kind        string
	Traceparent string // of the span that added the job; "" if there is none
	// Apart begins a trace for the run, with a link to the span that added the job. Otherwise the run is also below
	// that span.
	Apart      bool
	Attributes []attribute.KeyValue
}

// Job starts the span of a run.
func (t *Tracer) Job(ctx context.Context, j Job) (context.Context, trace.Span) {
	if t == nil {
		return ctx, noop.Span{}
	}

	ctx = withRemoteParent(ctx, j.Traceparent)
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(j.Attributes...)}
	if added := trace.SpanContextFromContext(ctx); added.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: added}))
	}
	if j.Apart {
		opts = append(opts, trace.WithNewRoot())
	}

	return t.tracer.Start(ctx, j.Kind, opts...)
}

// Start starts a span below the context's span, by the same tracer. If the context's span is not recorded, Start
// returns ctx and allocates nothing.
func Start(ctx context.Context, name string, kind trace.SpanKind, attrs ...attribute.KeyValue) (context.Context,
	trace.Span,
) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, above
	}
	return above.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithAttributes(attrs...))
}

// Fail marks a span as failed. It does not record the text of the error, which may contain anything.
func Fail(span trace.Span) { span.SetStatus(codes.Error, "") }

// header is the name of the W3C header.
const header = "traceparent"

// Traceparent returns the W3C traceparent of the context's span, or "" if that is not recorded.
func Traceparent(ctx context.Context) string {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// withRemoteParent returns ctx with a remote parent, if traceparent is valid.
func withRemoteParent(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: traceparent})
}
