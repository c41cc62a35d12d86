package spans_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// count returns the value of a counter, summed over the series with that label value; "" means all.
func count(t *testing.T, reg *prometheus.Registry, name, label string) (sum int) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				sum += int(m.GetCounter().GetValue())
			}
		}
	}
	return sum
}

const (
	exported = "funnelwork_trace_spans_exported_total"
	dropped  = "funnelwork_trace_spans_dropped_total"
)

// stuck is an exporter that takes nothing until it is released.
type stuck struct{ release chan struct{} }

func (s stuck) ExportSpans(ctx context.Context, _ []sdk.ReadOnlySpan) error {
	select {
	case <-s.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (stuck) Shutdown(context.Context) error { return nil }

func TestACollectorThatHangsDelaysNoSpanAndWhatIsTooMuchIsCounted(t *testing.T) {
	t.Parallel()
	reg, collector := prometheus.NewRegistry(), stuck{make(chan struct{})}
	tracer := spans.New(spans.Options{
		Exporter: collector, Share: 1, Service: "test", Log: testkit.Log(t), Metrics: spans.NewMetrics(reg),
	})
	const more = 1000
	for range spans.QueueCap + more {
		_, span := tracer.Request(t.Context(), "")
		span.End() // would block for ever
	}
	if n := count(t, reg, dropped, "queue_full"); n != more {
		t.Errorf("%d spans are dropped, want %d", n, more)
	}
	over, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cancel()
	tracer.Close(over) // does not wait for the collector
	close(collector.release)
}

func TestAllSpansArriveThatEndedBeforeTheTracerWasClosed(t *testing.T) {
	t.Parallel()
	var posted []*tracepb.Span
	var header http.Header
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		posted = append(posted, decode(t, r)...)
	}))
	t.Cleanup(collector.Close)
	reg := prometheus.NewRegistry()
	tracer := spans.New(spans.Options{
		Exporter: spans.NewOTLP(collector.URL+"/v1/traces", map[string]string{"Api-Key": "abc"}), Share: 1,
		Service: "test", Log: testkit.Log(t), Metrics: spans.NewMetrics(reg),
	})
	ctx, request := tracer.Request(t.Context(), callers)
	_, below := spans.Start(ctx, "below", trace.SpanKindClient)
	spans.Fail(below)
	below.End()
	request.End()
	tracer.Close(context.WithoutCancel(t.Context()))
	if len(posted) != 2 || posted[0].GetName() != "below" || posted[1].GetName() != "request" ||
		string(posted[0].GetParentSpanId()) != string(posted[1].GetSpanId()) ||
		posted[0].GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR ||
		posted[1].GetKind() != tracepb.Span_SPAN_KIND_SERVER {
		t.Errorf("posted: %v", posted)
	}
	if header.Get("Content-Type") != "application/x-protobuf" || header.Get("Api-Key") != "abc" {
		t.Errorf("the headers are %v", header)
	}
	if n := count(t, reg, exported, ""); n != 2 {
		t.Errorf("%d spans are counted as exported", n)
	}
}

func decode(t *testing.T, r *http.Request) (all []*tracepb.Span) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		t.Error(err)
	}
	for _, resource := range data.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			all = append(all, scope.GetSpans()...)
		}
	}
	return all
}

// counted counts log lines, and keeps their text.
type counted struct {
	slog.Handler
	lines *atomic.Int64
	text  *atomic.Value
}

// Enabled reports true: the embedded handler discards.
func (counted) Enabled(context.Context, slog.Level) bool { return true }

func (c counted) Handle(_ context.Context, r slog.Record) error {
	c.lines.Add(1)
	r.Attrs(func(a slog.Attr) bool {
		c.text.Store(r.Message + " " + a.String())
		return true
	})
	return nil
}

func TestAnOutageOfTheCollectorIsLoggedOnceAndEndsOnce(t *testing.T) {
	t.Parallel()
	var refuses atomic.Bool
	var lines atomic.Int64
	var text atomic.Value
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuses.Load() {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(collector.Close)
	reg := prometheus.NewRegistry()
	exporter := spans.Counting(spans.Options{
		Exporter: spans.NewOTLP(collector.URL+"/secret-path", nil), Metrics: spans.NewMetrics(reg),
		Log: slog.New(counted{slog.DiscardHandler, &lines, &text}),
	})
	span := tracetest.SpanStubs{{Name: "one"}}.Snapshots()
	for i, want := range []struct {
		refuses bool
		lines   int64
	}{{false, 0}, {true, 1}, {true, 1}, {false, 2}, {false, 2}} {
		refuses.Store(want.refuses)
		if err := exporter.ExportSpans(t.Context(), span); err != nil {
			t.Error(err)
		}
		if got := lines.Load(); got != want.lines {
			t.Errorf("after export %d: %d lines, want %d", i, got, want.lines)
		}
	}
	if lost, taken := count(t, reg, dropped, "export_failed"), count(t, reg, exported, ""); lost != 2 || taken != 3 {
		t.Errorf("%d dropped and %d exported, want 2 and 3", lost, taken)
	}
	collector.Close()
	refused, cancel := context.WithCancel(t.Context())
	cancel()
	_ = exporter.ExportSpans(refused, span)
	if said, _ := text.Load().(string); lines.Load() != 3 || strings.Contains(said, "secret-path") {
		t.Errorf("%d lines, the last is %q", lines.Load(), said)
	}
}

func TestAnExportIsRepeatedWhileTheCollectorIsBusyAndFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	var calls, stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	t.Cleanup(thief.Close)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
			return
		}
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(collector.Close)
	span := tracetest.SpanStubs{{Name: "one"}}.Snapshots()
	if err := spans.NewOTLP(collector.URL, nil).ExportSpans(t.Context(), span); err != nil || calls.Load() != 2 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	moved := spans.NewOTLP(collector.URL+"/moved", map[string]string{"Api-Key": "abc"})
	if err := moved.ExportSpans(t.Context(), span); err == nil || stolen.Load() != 0 {
		t.Errorf("%v, and %d requests went elsewhere", err, stolen.Load())
	}
}

func TestAHistogramsExemplarIsTheTrace(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took", Buckets: []float64{1}})
	reg.MustRegister(histogram)
	exemplar := func() string {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		e := families[0].GetMetric()[0].GetHistogram().GetBucket()[0].GetExemplar()
		if e == nil {
			return ""
		}
		return e.GetLabel()[0].GetName() + " " + e.GetLabel()[0].GetValue()
	}
	spans.Observe(t.Context(), histogram, .5)
	if got := exemplar(); got != "" {
		t.Errorf("without a trace the exemplar is %q", got)
	}
	ctx, request := record(t, 1).Request(t.Context(), callers)
	spans.Observe(ctx, histogram, .5)
	request.End()
	if got := exemplar(); got != "trace_id "+callersTrace {
		t.Errorf("the exemplar is %q", got)
	}
}
