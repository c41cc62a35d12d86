package spans_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callers      = "00-" + callersTrace + "-b7ad6b7169203331-01"
)

// recorder is a tracer with an exporter in memory.
type recorder struct {
	*spans.Tracer
	t      *testing.T
	memory *tracetest.InMemoryExporter
}

func record(t *testing.T, share float64) *recorder {
	t.Helper()
	memory := tracetest.NewInMemoryExporter()
	return &recorder{spans.New(spans.Options{
		Exporter: kept{memory}, Share: share, Service: "test", Log: testkit.Log(t),
	}), t, memory}
}

// all closes the tracer and returns what it has exported.
func (r *recorder) all() tracetest.SpanStubs {
	r.t.Helper()
	r.Close(context.WithoutCancel(r.t.Context()))
	return r.memory.GetSpans()
}

// kept keeps the spans after a shutdown.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

func TestStatementsAndCommandsAreShownWithoutTheirValues(t *testing.T) {
	t.Parallel()
	tracer := record(t, 1)
	ctx, request := tracer.Request(t.Context(), callers)
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	batch.Queue("INSERT INTO t\n\t(a, b) VALUES ($1, 'it''s secret')", "hunter2")
	batch.Queue("COMMIT")
	spans.SQL{}.TraceBatchEnd(spans.SQL{}.TraceBatchStart(ctx, nil, pgx.TraceBatchStartData{Batch: batch}), nil,
		pgx.TraceBatchEndData{})
	refused := &pgconn.PgError{Code: "23505", Message: "secret", Detail: "Key (a)=(hunter2) exists."}
	spans.SQL{}.TraceQueryEnd(spans.SQL{}.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{
		SQL: "SELECT $1", Args: []any{"hunter2"},
	}), nil, pgx.TraceQueryEndData{Err: refused})
	err := spans.Redis{}.ProcessHook(func(context.Context, redis.Cmder) error { return redis.Nil })(ctx,
		redis.NewCmd(ctx, "get", "token:hunter2"))
	if err == nil {
		t.Error("the hook hides an error")
	}
	request.End()
	got := tracer.all()
	if len(got) != 4 || got[0].Name != "SQL INSERT" || got[1].Name != "SQL SELECT" || got[2].Name != "redis get" {
		t.Fatalf("%+v", got)
	}
	for _, s := range got {
		if s.SpanContext.TraceID().String() != callersTrace {
			t.Errorf("%s is in the trace %s", s.Name, s.SpanContext.TraceID())
		}
		text := s.Status.Description
		for _, a := range s.Attributes {
			text += " " + a.Value.String()
			if a.Key == "db.query.text" && s.Name == "SQL INSERT" &&
				a.Value.String() != "INSERT INTO t (a, b) VALUES ($1, ?)" {
				t.Errorf("the statement is %s", a.Value.String())
			}
		}
		if strings.Contains(text, "hunter2") || strings.Contains(text, "secret") || len(s.Events) > 0 {
			t.Errorf("%s has %s and %v", s.Name, text, s.Events)
		}
	}
}

func TestAStatementLosesItsLiterals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ sql, want string }{
		{"SELECT  1\n\tFROM t ", "SELECT 1 FROM t"},
		{"SELECT 'a', $1, 'it''s', ''", "SELECT ?, $1, ?, ?"},
		{`SELECT E'it\'s', e'\\', 'a\', b`, "SELECT E?, e?, ?, b"},
		{"SELECT 'open", "SELECT ?"},
		{"SELECT a, $$secret$$, b", "SELECT a, "},
		{"DO $body$ secret $body$", "DO "},
		{strings.Repeat("x", 600), strings.Repeat("x", 500)},
		{"", ""},
	} {
		if got := spans.Redact(tc.sql); got != tc.want {
			t.Errorf("%s becomes %q, want %q", tc.sql, got, tc.want)
		}
	}
}

func TestAJobContinuesTheTraceInWhichItWasAdded(t *testing.T) {
	t.Parallel()
	tracer := record(t, 1)
	ctx, request := tracer.Request(t.Context(), "")
	row := spans.Traceparent(ctx)
	request.End()
	for _, j := range []spans.Job{
		{Kind: "webhook.deliver", Traceparent: row},
		{Kind: "email.send_bulk", Traceparent: row, Apart: true},
		{Kind: "lead.score", Traceparent: "not a traceparent"},
	} {
		_, span := tracer.Job(t.Context(), j)
		span.End()
	}
	got, added := tracer.all()[1:], request.SpanContext()
	if got[0].Parent.SpanID() != added.SpanID() || got[0].SpanContext.TraceID() != added.TraceID() {
		t.Errorf("the job is in another trace: %+v", got[0])
	}
	if got[1].Parent.IsValid() || got[1].SpanContext.TraceID() == added.TraceID() {
		t.Errorf("the job with a trace of its own is in that of the request: %+v", got[1])
	}
	for _, s := range got[:2] {
		if len(s.Links) != 1 || s.Links[0].SpanContext.SpanID() != added.SpanID() {
			t.Errorf("the links of %s are %+v", s.Name, s.Links)
		}
	}
	if got[2].Parent.IsValid() || len(got[2].Links) != 0 {
		t.Errorf("the job that was added outside of a trace: %+v", got[2])
	}
}

func TestTheShareDecidesAndNoCallerDoes(t *testing.T) {
	t.Parallel()
	tracer := record(t, 0)
	ctx, request := tracer.Request(t.Context(), callers)
	if row := spans.Traceparent(ctx); row != "" {
		t.Errorf("rows get %q", row)
	}
	_, below := spans.Start(ctx, "below", trace.SpanKindClient)
	below.End()
	request.End()
	_, job := tracer.Job(t.Context(), spans.Job{Kind: "of a recorded request", Traceparent: callers})
	job.End()
	if got := tracer.all(); len(got) != 1 || got[0].Name != "of a recorded request" {
		t.Errorf("%+v", got)
	}
}

// It is not parallel, since it counts allocations.
func TestWithoutATracerNothingIsAllocated(t *testing.T) {
	var off *spans.Tracer
	ctx, request := off.Request(t.Context(), callers)
	_, job := off.Job(ctx, spans.Job{Kind: "lead.score", Traceparent: callers})
	started, below := spans.Start(ctx, "below", trace.SpanKindClient)
	if request.IsRecording() || job.IsRecording() || below.IsRecording() || started != ctx ||
		spans.Traceparent(ctx) != "" {
		t.Error("something is recorded")
	}
	hook := spans.Redis{}.ProcessHook(func(context.Context, redis.Cmder) error { return nil })
	cmd := redis.NewCmd(ctx, "get", "a")
	if n := testing.AllocsPerRun(100, func() {
		c, r := off.Request(ctx, callers)
		c, s := spans.Start(c, "below", trace.SpanKindClient)
		_ = spans.Traceparent(c)
		_ = hook(c, cmd)
		s.End()
		r.End()
	}); n != 0 {
		t.Errorf("a request that is not traced costs %v allocations", n)
	}
	off.Close(ctx)
}

func BenchmarkARequestThatIsNotTraced(b *testing.B) {
	var off *spans.Tracer
	ctx := context.WithValue(context.WithValue(b.Context(), "a", 1), "b", 2) //nolint:revive,staticcheck // depth alone
	b.ReportAllocs()
	for b.Loop() {
		c, r := off.Request(ctx, "")
		for range 8 { // statements, Redis, exemplars
			_, s := spans.Start(c, "below", trace.SpanKindClient)
			_ = spans.Traceparent(c)
			s.End()
		}
		r.End()
	}
}
