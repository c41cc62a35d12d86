package worker_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/worker"
)

// keptSpans keeps the spans after a shutdown.
type keptSpans struct{ *tracetest.InMemoryExporter }

func (keptSpans) Shutdown(context.Context) error { return nil }

// traced makes the house's app pool a traced one, and returns the tracer and what it has exported.
func (h *house) traced() (*spans.Tracer, *tracetest.InMemoryExporter) {
	h.t.Helper()
	memory := tracetest.NewInMemoryExporter()
	tracer := spans.New(spans.Options{Exporter: keptSpans{memory}, Share: 1, Service: "test", Log: h.log})
	db, err := postgres.Open(h.t.Context(),
		postgres.Options{URL: h.db.URL, Role: postgres.App, MaxConns: 8, Tracer: spans.SQL{}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(db.Close)
	h.db.App = db
	return tracer, memory
}

func TestOneTraceLeadsFromARequestThroughJobsToTheReceiver(t *testing.T) {
	t.Parallel()
	h := open(t)
	tracer, memory := h.traced()
	received := make(chan http.Header, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		received <- r.Header.Clone()
	}))
	t.Cleanup(receiver.Close)
	hooks := &webhooks.Service{Box: testkit.Box(t), Policy: outbound.Policy{AllowPrivate: true}}
	const secret = "planted-secret-4711"
	if err := h.db.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		_, _, err := hooks.Create(t.Context(), tx,
			webhooks.New{URL: receiver.URL + "/" + secret + "?key=" + secret, Events: []string{"*"}, Enabled: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	// A job of rows alone adds the event, so that the trace crosses the job table twice.
	kind := queue.Define[none]("test.announce", queue.Options{})
	announce := kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, _ *queue.Run[none]) error {
		now := wire.Now()
		return events.Announce(ctx, tx, events.ContactCreated{Contact: events.Contact{
			ID: id.New(), Email: secret + "@example.com", FirstName: secret, LastName: "Lovelace",
			Stage: "lead", Tag: []string{}, Segment: []string{}, Attributes: map[string]any{},
			Score: events.ContactScore{Confidence: "prior"}, CreatedAt: now, UpdatedAt: now,
		}})
	})
	reg := prometheus.NewRegistry()
	deliver := &webhookdeliver.Job{
		DB: h.db.App, Hooks: hooks, Client: outbound.New(outbound.Options{Policy: hooks.Policy}),
		Metrics: webhookdeliver.NewMetrics(reg),
	}
	stop := h.work(worker.Options{Tracer: tracer, Metrics: worker.NewMetrics(reg)}, announce, deliver.Handler())
	ctx, request := tracer.Request(t.Context(), "")
	if err := h.db.App.Tx(ctx, h.org, func(tx *postgres.Tx) error { return kind.Add(ctx, tx, none{}) }); err != nil {
		t.Fatal(err)
	}
	request.End()
	trace := request.SpanContext().TraceID().String()
	var parts []string
	select {
	case header := <-received:
		parts = strings.Split(header.Get("Traceparent"), "-")
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing arrived")
	}
	if len(parts) != 4 || parts[1] != trace || parts[3] != "01" {
		t.Fatalf("the receiver gets the traceparent %q, the trace is %s", parts, trace)
	}
	h.until(giveUpAfter, "the jobs are gone", func() bool { return len(h.jobs()) == 0 })
	for _, table := range []string{"event", "webhook_delivery"} {
		if n := h.count("SELECT count(*) FROM " + table + " WHERE traceparent LIKE '00-" + trace + "-%-01'"); n != 1 {
			t.Errorf("%d rows of %s have the traceparent", n, table)
		}
	}
	stop()
	tracer.Close(context.WithoutCancel(t.Context()))
	got := memory.GetSpans()
	var path, sql []string
	for above := parts[2]; ; {
		i := slices.IndexFunc(got, func(s tracetest.SpanStub) bool { return s.SpanContext.SpanID().String() == above })
		if i < 0 {
			break
		}
		path = append(path, got[i].Name)
		above = got[i].Parent.SpanID().String()
		isJob := got[i].Name == "webhook.deliver" || got[i].Name == "test.announce"
		if isJob && (len(got[i].Links) != 1 || got[i].Links[0].SpanContext.SpanID() != got[i].Parent.SpanID()) {
			t.Errorf("the links of %s are %v", got[i].Name, got[i].Links)
		}
	}
	if want := []string{"webhook attempt", "webhook.deliver", "test.announce", "request"}; !slices.Equal(path, want) {
		t.Errorf("the spans above the receiver are %v, want %v", path, want)
	}
	for _, s := range got {
		if strings.HasPrefix(s.Name, "SQL ") && s.SpanContext.TraceID().String() == trace {
			sql = append(sql, s.Name)
		}
		for _, a := range s.Attributes {
			if strings.Contains(a.Value.String(), secret) {
				t.Errorf("%s has %s=%s", s.Name, a.Key, a.Value.String())
			}
		}
	}
	if len(sql) < 2 {
		t.Errorf("the statements of the trace are %v", sql)
	}
	page := httptest.NewRecorder()
	ask := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	ask.Header.Set("Accept", "application/openmetrics-text")
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(page, ask)
	for _, name := range []string{
		`funnelwork_jobs_run_seconds_bucket{kind="webhook.deliver"`,
		`funnelwork_jobs_wait_seconds_bucket{kind="test.announce"`,
		"funnelwork_webhook_attempt_duration_seconds_bucket", "funnelwork_webhook_first_attempt_seconds_bucket",
	} {
		found := false
		for line := range bytes.Lines(page.Body.Bytes()) {
			found = found || bytes.HasPrefix(line, []byte(name)) && bytes.Contains(line, []byte(`trace_id="`+trace+`"`))
		}
		if !found {
			t.Errorf("%s has no exemplar", name)
		}
	}
}

func TestARunOfTheBulkLaneAndAnOldJobBeginTracesOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := open(t)
	tracer, memory := h.traced()
	bulk := queue.Define[none]("test.bulk", queue.Options{Lane: queue.Bulk})
	old := queue.Define[none]("test.old", queue.Options{})
	ran := make(chan struct{}, 2)
	work := func(context.Context, *postgres.Tx, *queue.Run[none]) error {
		ran <- struct{}{}
		return nil
	}
	ctx, request := tracer.Request(t.Context(), "")
	if err := h.db.App.Tx(ctx, h.org, func(tx *postgres.Tx) error {
		if err := bulk.Add(ctx, tx, none{}); err != nil {
			return err
		}
		return old.Add(ctx, tx, none{})
	}); err != nil {
		t.Fatal(err)
	}
	request.End()
	h.exec("UPDATE job SET created_at = now() - interval '2 hours' WHERE kind = 'test.old'")
	stop := h.work(worker.Options{Tracer: tracer}, bulk.HandleTx(work), old.HandleTx(work))
	for range 2 {
		select {
		case <-ran:
		case <-time.After(2 * time.Minute):
			t.Fatal("a job did not run")
		}
	}
	h.until(giveUpAfter, "the jobs are gone", func() bool { return len(h.jobs()) == 0 })
	stop()
	tracer.Close(context.WithoutCancel(t.Context()))
	n := 0
	for _, s := range memory.GetSpans() {
		if s.Name != "test.bulk" && s.Name != "test.old" {
			continue
		}
		n++
		if s.Parent.IsValid() || s.SpanContext.TraceID() == request.SpanContext().TraceID() || len(s.Links) != 1 ||
			s.Links[0].SpanContext.SpanID() != request.SpanContext().SpanID() {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
	if n != 2 {
		t.Errorf("%d spans", n)
	}
}

func TestWithoutATracerRowsHaveNoTraceparent(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	if n := h.count("SELECT count(*) FROM job WHERE traceparent IS NOT NULL"); n != 0 {
		t.Errorf("%d rows have a traceparent", n)
	}
	// A session that was traced leaves none to its next transaction.
	tracer, _ := h.traced()
	ctx, request := tracer.Request(t.Context(), "")
	add := func(ctx context.Context) {
		err := h.db.App.Tx(ctx, h.org, func(tx *postgres.Tx) error { return adding(mark, none{})(ctx, tx) })
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		add(ctx)
		add(t.Context())
	}
	request.End()
	tracer.Close(context.WithoutCancel(t.Context()))
	if n := h.count("SELECT count(*) FROM job WHERE traceparent IS NOT NULL"); n != 20 {
		t.Errorf("%d rows have a traceparent, want 20", n)
	}
}
