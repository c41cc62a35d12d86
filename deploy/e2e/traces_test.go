package e2e_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// collector is an OpenTelemetry collector that keeps the spans in memory.
type collector struct {
	mu    sync.Mutex
	spans map[string]collected // by span id
	raw   bytes.Buffer         // all requests
	token string               // of the last request
}

// collected is a span with the name of its service.
type collected struct {
	*tracepb.Span
	service string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil || r.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	c.token = r.Header.Get("X-Token")
	for _, resource := range data.GetResourceSpans() {
		service := ""
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans[hex.EncodeToString(s.GetSpanId())] = collected{s, service}
			}
		}
	}
}

// path returns the names of a span and of the spans above it, each with its service.
func (c *collector) path(id string) (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s, ok := c.spans[id]; ok; s, ok = c.spans[hex.EncodeToString(s.GetParentSpanId())] {
		names = append(names, s.service+": "+s.GetName())
	}
	return names
}

// named returns the spans whose names begin with prefix, of one trace or, with "", of all.
func (c *collector) named(trace, prefix string) (all []collected) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if strings.HasPrefix(s.GetName(), prefix) && (trace == "" || hex.EncodeToString(s.GetTraceId()) == trace) {
			all = append(all, s)
		}
	}
	return all
}

// traced are an api and a worker that send their spans to a collector.
type traced struct {
	*collector
	t           *testing.T
	public, ops string // of the api
	log         func() string
}

// startTraced starts the two processes. The collector is reached at url.
func startTraced(t *testing.T, url string, c *collector) *traced {
	t.Helper()
	ports, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleSettings(t),
		"PATH="+os.Getenv("PATH"), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_DRAIN_DELAY=0s",
		"FUNNELWORK_SMTP_URL=smtp://"+refusingMail(t), "OTEL_EXPORTER_OTLP_ENDPOINT="+url,
		"OTEL_EXPORTER_OTLP_HEADERS=X-Token=planted%20header")
	api := role(t, env, "api", ports[0], ports[1])
	worker := role(t, env, "worker", ports[0], ports[2])
	return &traced{
		collector: c, t: t, public: "http://" + ports[0], ops: "http://" + ports[1],
		log: func() string { return api.String() + worker.String() },
	}
}

// must makes a request and decodes the answer.
func (s *traced) must(want int, method, path, token, body string) (v map[string]any) {
	s.t.Helper()
	status, answer := ask(s.t, method, s.public+path, token, body)
	if status != want {
		s.t.Fatalf("%s %s: %d, want %d: %s\n%s", method, path, status, want, answer, s.log())
	}
	_ = json.Unmarshal([]byte(answer), &v)
	return v
}

const signupBody = `{"org_name":"Engines","email":"planted-ada@example.com","password":"planted-battery-staple"}`

// TestOneTraceLeadsFromThePostToTheSubscribersServer also plants secrets, in what succeeds and in what fails, and finds
// none of them in what the collector gets.
func TestOneTraceLeadsFromThePostToTheSubscribersServer(t *testing.T) {
	t.Parallel()
	c := &collector{spans: map[string]collected{}}
	at := httptest.NewServer(c)
	t.Cleanup(at.Close)
	received := make(chan http.Header, 100)
	subscriber := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/planted-failing" {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "planted-answer")
			return
		}
		received <- r.Header.Clone()
	}))
	t.Cleanup(subscriber.Close)
	s := startTraced(t, at.URL, c)
	token, _ := s.must(201, "POST", "/api/v1/auth/signup", "", signupBody)["access_token"].(string)
	s.must(401, "POST", "/api/v1/auth/login", "",
		`{"email":"planted-ada@example.com","password":"planted-wrong-password"}`)
	hook := s.must(201, "POST", "/api/v1/webhooks", token,
		`{"url":"`+subscriber.URL+`/planted-path?key=planted-query","events":["contact.created"]}`)
	s.must(201, "POST", "/api/v1/webhooks", token,
		`{"url":"`+subscriber.URL+`/planted-failing","events":["contact.created"]}`)
	s.must(202, "POST", "/api/v1/auth/forgot-password", "", `{"email":"planted-ada@example.com"}`)
	s.must(404, "GET", "/api/v1/planted-path-token?token=planted-query-token", token, "")

	const trace = "0af7651916cd43dd8448eb211c80319c"
	const contact = `{"email":"planted-grace@example.org","first_name":"planted-first","last_name":"Hopper"}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.public+"/api/v1/crm/contacts",
		strings.NewReader(contact))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Cookie": "session=planted-cookie",
		"User-Agent": "planted-agent", "Traceparent": "00-" + trace + "-b7ad6b7169203331-01",
		"Tracestate": "planted=state", "Baggage": "planted=baggage",
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("contact: %s", res.Status)
	}
	s.must(409, "POST", "/api/v1/crm/contacts", token, contact) // Postgres' error has the address

	parts := strings.Split((<-received).Get("Traceparent"), "-")
	if len(parts) != 4 || parts[1] != trace {
		t.Fatalf("the subscriber gets the traceparent %q", parts)
	}
	want := []string{
		"funnelwork-worker: webhook attempt", "funnelwork-worker: webhook.deliver",
		"funnelwork-api: POST /api/v1/crm/contacts",
	}
	var names []string
	until(t, "the spans above the attempt are exported", func() bool {
		names = c.path(parts[2])
		return len(names) == len(want)
	}, func() string { return strings.Join(names, " < ") + s.log() })
	if !slices.Equal(names, want) {
		t.Errorf("the trace is %v, want %v", names, want)
	}
	until(t, "SQL and both attempts of the trace, Redis and the mail are exported", func() bool {
		return len(c.named(trace, "SQL ")) > 0 && len(c.named("", "redis ")) > 0 &&
			len(c.named(trace, "webhook attempt")) == 2 && len(c.named("", "mail")) > 0
	}, func() string { return fmt.Sprint(c.named("", "")) })
	for _, job := range c.named(trace, "webhook.deliver") {
		if len(job.GetLinks()) != 1 || !bytes.Equal(job.GetLinks()[0].GetSpanId(), job.GetParentSpanId()) {
			t.Errorf("the job's span has the links %v", job.GetLinks())
		}
	}
	_, page := ask(t, "GET", s.ops+"/metrics", "", "")
	if metric(page, "funnelwork_trace_spans_exported_total") == 0 ||
		metric(page, "funnelwork_trace_spans_dropped_total") != 0 {
		t.Errorf("exported %v, dropped %v", metric(page, "funnelwork_trace_spans_exported_total"),
			metric(page, "funnelwork_trace_spans_dropped_total"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "planted header" {
		t.Errorf("the collector gets the token %q", c.token)
	}
	secret, _ := hook["secret"].(string)
	for _, text := range []string{"planted", "ada@example.com", token, secret, subscriber.URL, "Hopper"} {
		if i := strings.Index(c.raw.String(), text); text == "" || i >= 0 {
			t.Errorf("a span has %q: %q", text, c.raw.String()[max(0, i-200):i+len(text)+50])
		}
	}
}

// The processes also have to end with status 0 although the collector still takes nothing.
func TestACollectorThatHangsFailsNoRequest(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	release := make(chan struct{})
	at := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of a connection only after the body
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(at.Close)
	t.Cleanup(func() { close(release) })
	s := startTraced(t, at.URL, nil)
	token, _ := s.must(201, "POST", "/api/v1/auth/signup", "", signupBody)["access_token"].(string)
	<-asked
	for i := range 50 {
		s.must(201, "POST", "/api/v1/crm/contacts", token,
			fmt.Sprintf(`{"email":"grace%d@example.org","first_name":"Grace","last_name":"Hopper"}`, i))
	}
	if status := statusOf(s.ops + "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d", status)
	}
}
