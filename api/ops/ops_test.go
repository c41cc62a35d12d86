package ops_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// newOps returns the handler of a listener with a migrated database and the test's own Redis.
func newOps(t *testing.T, change ...func(*ops.Options)) *ops.Listener {
	t.Helper()
	o := ops.Options{Role: "test", Log: testkit.Log(t)}
	for _, c := range change {
		c(&o)
	}
	if o.DB == nil {
		kit := testkit.DB(t)
		o.DB, o.System, o.DatabaseURL = kit.App, kit.System, kit.URL
	}
	if o.RedisURL == "" {
		o.RedisURL = testkit.Redis(t)
	}
	listener, err := ops.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func asked(t *testing.T, h http.Handler, method, target string,
	dress ...func(*http.Request),
) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	r.Host = "127.0.0.1:9090"
	for _, d := range dress {
		d(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if listener, ok := h.(*ops.Listener); ok {
		conforms(t, listener, r, w)
	}
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
			return
		}
		r.Header.Add(name, value)
	}
}

type readyAnswer struct {
	Status string
	Checks map[string]struct {
		OK     bool
		Reason string
	}
	Degraded      []string
	NotConfigured []string `json:"not_configured"`
}

func readyz(t *testing.T, h http.Handler, query string) (int, readyAnswer) {
	t.Helper()
	w := asked(t, h, "GET", "/readyz"+query)
	var a readyAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return w.Code, a
}

func TestReadinessNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	redis := testkit.RealRedis(t)
	listener := newOps(t, func(o *ops.Options) { o.RedisURL = redis.URL })
	code, a := readyz(t, listener, "")
	if code != 200 || a.Status != "ready" {
		t.Fatalf("%d %s, want 200 ready: %+v", code, a.Status, a)
	}
	if len(a.Checks) != 3 {
		t.Fatalf("%d checks, want 3: %+v", len(a.Checks), a)
	}
	for _, name := range []string{"postgres", "redis", "migrations"} {
		if !a.Checks[name].OK {
			t.Fatalf("%s is not ok: %+v", name, a)
		}
	}
	for name, fault := range map[string]struct {
		begin, end func()
	}{"stopped": {redis.Stop, redis.Start}, "hung": {redis.Hang, redis.Continue}} {
		fault.begin()
		began := time.Now()
		code, a := readyz(t, listener, "")
		if code != 503 {
			t.Errorf("redis %s: %d, want 503", name, code)
		}
		if check := a.Checks["redis"]; check.OK || check.Reason == "" {
			t.Errorf("redis %s: its check is %+v, want a reason", name, check)
		}
		if check := a.Checks["postgres"]; !check.OK {
			t.Errorf("redis %s: the check of postgres is %+v", name, check)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("redis %s: the answer took %s", name, took)
		}
		if code, a := readyz(t, listener, "?exclude=redis"); code != 200 || len(a.Checks) != 2 {
			t.Errorf("redis %s and excluded: %d %+v", name, code, a)
		}
		if w := asked(t, listener, "GET", "/healthz"); w.Code != 200 {
			t.Errorf("redis %s: the process is alive, but /healthz is %d", name, w.Code)
		}
		fault.end()
	}
}

func TestReadinessListsWhatIsNotConfiguredAndWaitsForPricesAlone(t *testing.T) {
	t.Parallel()
	var published atomic.Bool
	listener := newOps(t, func(o *ops.Options) {
		o.NotConfigured = []httpx.Part{httpx.PartMail, httpx.PartAI}
		o.Ready = map[string]func(context.Context) error{"prices": func(context.Context) error {
			if published.Load() {
				return nil
			}
			return ops.ErrUnpublished
		}}
	})
	code, a := readyz(t, listener, "")
	if code != 503 {
		t.Errorf("before the prices are published: %d, want 503", code)
	}
	if check := a.Checks["prices"]; check.OK || check.Reason != ops.ErrUnpublished.Error() {
		t.Errorf("before the prices are published: %+v, want the reason %q", check, ops.ErrUnpublished)
	}
	published.Store(true)
	if code, a = readyz(t, listener, ""); code != 200 || !a.Checks["prices"].OK {
		t.Errorf("after that: %d %+v", code, a)
	}
	if diff := cmp.Diff([]string{"mail", "ai"}, a.NotConfigured); diff != "" {
		t.Errorf("not_configured (-want +got):\n%s", diff)
	}
	if _, a := readyz(t, newOps(t), ""); a.NotConfigured == nil || len(a.NotConfigured) != 0 {
		t.Errorf("where all is configured: %v, want an empty list", a.NotConfigured)
	}
}

func TestAProcessThatEndsIsNotReadyAndStillHealthy(t *testing.T) {
	t.Parallel()
	var ending atomic.Bool
	listener := newOps(t, func(o *ops.Options) { o.Ending = ending.Load })
	if code, a := readyz(t, listener, ""); code != 200 || !a.Checks["process"].OK {
		t.Errorf("before: %d %+v", code, a)
	}
	ending.Store(true)
	code, a := readyz(t, listener, "")
	if code != 503 || a.Checks["process"].Reason == "" {
		t.Errorf("while it ends: %d, process %+v; want 503 and a reason", code, a.Checks["process"])
	}
	if !a.Checks["postgres"].OK {
		t.Errorf("while it ends: postgres %+v", a.Checks["postgres"])
	}
	for _, path := range []string{"/healthz", "/metrics"} {
		if w := asked(t, listener, "GET", path); w.Code != 200 {
			t.Errorf("while it ends: %s is %d", path, w.Code)
		}
	}
}

func TestReadinessWantsTheNewestSchema(t *testing.T) {
	t.Parallel()
	url := testkit.NewPostgres(t)
	db, err := postgres.Open(t.Context(),
		postgres.Options{URL: "postgres://nobody@127.0.0.1:1/none", Role: postgres.App})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	listener := newOps(t, func(o *ops.Options) { o.DB, o.DatabaseURL = db, url })
	code, a := readyz(t, listener, "")
	if code != 503 {
		t.Errorf("%d, want 503", code)
	}
	if reason := a.Checks["migrations"].Reason; !strings.Contains(reason, "migrations") {
		t.Errorf("the reason of migrations is %q", reason)
	}
	if reason := a.Checks["postgres"].Reason; reason != "unavailable" {
		t.Errorf("the reason of postgres is %q, want unavailable", reason)
	}
}

func TestOpsPasswordCoversAllButHealth(t *testing.T) {
	t.Parallel()
	listener := newOps(t, func(o *ops.Options) {
		o.User, o.Password = "ops", "correct horse"
		o.Mounts = map[string]http.Handler{"/sandbox/inbox/": http.NotFoundHandler()}
		o.Receivers = []string{"/sandbox/inbox/"}
	})
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/metrics": 401, "/queues/": 401,
		"/queues/api/queues": 401, "/tls/ask": 401, "/sandbox/inbox/": 401, "/": 401, "/none": 401,
	} {
		if w := asked(t, listener, "GET", path); w.Code != want ||
			want == 401 && !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("GET %s without a password: %d, want %d", path, w.Code, want)
		}
	}
	from := func(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }
	for name, tc := range map[string]struct {
		method, path, peer string
		want               int
	}{
		"a delivery from here":      {"POST", "/sandbox/inbox/a", "127.0.0.1:5", 404},
		"a delivery from elsewhere": {"POST", "/sandbox/inbox/a", "192.0.2.1:5", 401},
		"a look from here":          {"GET", "/sandbox/inbox/a", "127.0.0.1:5", 401},
		"a call that slips out of there": {
			"POST", "/sandbox/inbox/../../queues/api/queues/default:pause",
			"127.0.0.1:5", 307,
		},
	} {
		if w := asked(t, listener, tc.method, tc.path, from(tc.peer)); w.Code != tc.want {
			t.Errorf("%s: %d, want %d", name, w.Code, tc.want)
		}
	}
	for _, tc := range []struct {
		user, password string
		want           int
	}{
		{"ops", "correct horse", 200},
		{"ops", "wrong", 401},
		{"", "", 401},
		{"Ops", "correct horse", 401},
		{"ops:correct", "horse", 401},
	} {
		if w := asked(t, listener, "GET", "/metrics", func(r *http.Request) {
			r.SetBasicAuth(tc.user, tc.password)
		}); w.Code != tc.want {
			t.Errorf("%q %q: %d, want %d", tc.user, tc.password, w.Code, tc.want)
		}
	}
}

func TestAPageElsewhereCannotChangeAQueue(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	open := newOps(t, func(o *ops.Options) { o.RedisURL, o.Hosts = url, []string{"ops.example.com"} })
	locked := newOps(t, func(o *ops.Options) { o.RedisURL, o.User, o.Password = url, "ops", "secret" })
	withPassword := func(r *http.Request) { r.SetBasicAuth("ops", "secret") }
	task(t, url)
	const pause = "/queues/api/queues/default:pause"
	const resume = "/queues/api/queues/default:resume"
	for _, tc := range []struct {
		name   string
		h      http.Handler
		method string
		dress  []func(*http.Request)
		want   int
	}{
		{"a program", open, "POST", nil, 204},
		{
			"our own page", open, "POST",
			[]func(*http.Request){header("Origin", "http://127.0.0.1:9090"), header("Sec-Fetch-Site", "same-origin")},
			204,
		},
		{
			"localhost", open, "POST",
			[]func(*http.Request){header("Host", "localhost:9090"), header("Origin", "http://localhost:9090")},
			204,
		},
		{"ipv6", open, "POST", []func(*http.Request){header("Host", "[::1]:9090")}, 204},
		{"a listed name", open, "POST", []func(*http.Request){header("Host", "ops.example.com")}, 204},
		{"another site's page", open, "POST", []func(*http.Request){header("Origin", "https://evil.example")}, 403},
		{"another port's page", open, "POST", []func(*http.Request){header("Origin", "http://127.0.0.1:8080")}, 403},
		{"a page without origin", open, "POST", []func(*http.Request){header("Origin", "null")}, 403},
		{
			"two origins", open, "POST",
			[]func(*http.Request){
				header("Origin", "http://127.0.0.1:9090"),
				header("Origin", "https://evil.example"),
			},
			403,
		},
		{"a cross-site form", open, "POST", []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, 403},
		{
			"a name that was made to point here", open, "POST",
			[]func(*http.Request){
				header("Host", "rebound.example:9090"),
				header("Origin", "http://rebound.example:9090"),
			},
			421,
		},
		{"reading under such a name", open, "GET", []func(*http.Request){header("Host", "rebound.example:9090")}, 421},
		{
			"the same with a password set", locked, "POST",
			[]func(*http.Request){header("Host", "rebound.example"), withPassword},
			421,
		},
		{
			"reading with the password through a proxy", locked, "GET",
			[]func(*http.Request){header("Host", "ops.internal"), withPassword},
			200,
		},
		{
			"another site's page with the password", locked, "POST",
			[]func(*http.Request){header("Origin", "https://evil.example"), withPassword},
			403,
		},
	} {
		path := pause
		if tc.method == "GET" {
			path = "/queues/api/queues"
		}
		if w := asked(t, tc.h, tc.method, path, tc.dress...); w.Code != tc.want {
			t.Errorf("%s: %d, want %d: %s", tc.name, w.Code, tc.want, w.Body)
		}
		if tc.want == 204 {
			if w := asked(t, tc.h, "POST", resume); w.Code != 204 {
				t.Errorf("%s: resume: %d %s", tc.name, w.Code, w.Body)
			}
		}
	}
}

// task adds one task to the default queue.
func task(t *testing.T, url string) {
	t.Helper()
	redis, err := redisx.Open(url, redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	client := asynq.NewClientFromRedisClient(redis)
	t.Cleanup(func() { _ = redis.Close() })
	if _, err := client.EnqueueContext(t.Context(),
		asynq.NewTask("lead.score",
			[]byte(`{"id":"0190a5c4-5e4b-7000-8000-000000000001","email":"private@example.com"}`))); err != nil {
		t.Fatal(err)
	}
}

func TestTheDashboardShowsQueuesAndKeepsThem(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	listener := newOps(t, func(o *ops.Options) { o.RedisURL = url })
	task(t, url)
	for path, part := range map[string]string{
		"/queues/": "<title>Asynq", "/queues/api/queues": `"queue":"default"`, "/queues/queues/default": "<title>Asynq",
		"/queues/api/queues/default/pending_tasks": "0190a5c4-5e4b-7000-8000-000000000001",
	} {
		w := asked(t, listener, "GET", path)
		if w.Code != 200 || !strings.Contains(w.Body.String(), part) {
			t.Errorf("GET %s: %d without %q: %.300s", path, w.Code, part, w.Body)
		}
		if strings.Contains(w.Body.String(), "private@example.com") {
			t.Errorf("GET %s shows what the task bears", path)
		}
	}
	for _, path := range []string{
		"/queues/api/queues/default", "/queues/api/queues/default?force=true",
		"/queues/api/queues/d%65fault",
	} {
		if w := asked(t, listener, "DELETE", path); w.Code != 403 {
			t.Errorf("DELETE %s: %d, want 403", path, w.Code)
		}
	}
	if w := asked(t, listener, "GET", "/queues/api/queues"); !strings.Contains(w.Body.String(), `"queue":"default"`) {
		t.Errorf("the queue is gone: %s", w.Body)
	}
	reading := newOps(t, func(o *ops.Options) { o.RedisURL, o.ReadOnly = url, true })
	if w := asked(t, reading, "POST", "/queues/api/queues/default:pause"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("read only, but pause is %d", w.Code)
	}
}

func TestOpsServesOnLoopbackAloneWithoutAPassword(t *testing.T) {
	t.Parallel()
	wide, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := newOps(t).Serve(t.Context(), wide); err == nil ||
		!strings.Contains(err.Error(), "FUNNELWORK_OPS_PASSWORD") {
		t.Errorf("err = %v, want one that says what to set", err)
	}
	if _, err := ops.New(ops.Options{User: "ops"}); err == nil {
		t.Error("a user without a password was taken")
	}
	loopback, any6 := &net.TCPAddr{IP: net.IPv6loopback}, &net.TCPAddr{IP: net.IPv6unspecified}
	for _, c := range []struct {
		at             net.Addr
		user, password string
		ok             bool
	}{
		{loopback, "", "", true},
		{any6, "", "", false},
		{any6, "ops", "secret", true},
		{loopback, "ops", "", false},
		{loopback, "", "secret", false},
	} {
		if err := ops.CheckAddress(c.at, c.user, c.password); (err == nil) != c.ok {
			t.Errorf("%v %q %q: %v", c.at, c.user, c.password, err)
		}
	}

	reg := prometheus.NewRegistry()
	kit := testkit.DB(t)
	metrics := httpx.NewMetrics(reg)
	ops.CollectPool(reg, "app", kit.App)
	metrics.Observe(t.Context(), "GET", "/api/v1/crm/contacts/{id}", 404, 3*time.Millisecond)
	metrics.Observe(t.Context(), "BREW", "", 405, time.Millisecond)
	listener := newOps(t, func(o *ops.Options) { o.Metrics, o.DB, o.DatabaseURL = reg, kit.App, kit.URL })
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- listener.Serve(ctx, ln) }()
	body := fetch(t, "http://"+ln.Addr().String()+"/metrics")
	for _, part := range []string{
		`funnelwork_api_request_duration_seconds_count{method="GET",route="/api/v1/crm/contacts/{id}",status="4xx"} 1`,
		`funnelwork_api_request_duration_seconds_count{method="other",route="none",status="4xx"} 1`,
		`funnelwork_postgres_pool_sessions_max{pool="app"} 8`, "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(body, part) {
			t.Errorf("/metrics lacks %s", part)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("a stopped listener ended with %v", err)
	}
	if _, err := new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("GET %s: %d %v", url, res.StatusCode, err)
	}
	return string(body)
}

func TestACertificateMayBeGivenForWhatIsServedAlone(t *testing.T) {
	t.Parallel()
	known := func(name string) bool { return name == "crm.acme.test" }
	listener := newOps(t, func(o *ops.Options) { o.Serves = known })
	unready := ops.Unready(ops.Options{Serves: known, User: "ops", Password: "correct horse"})
	for query, want := range map[string]int{
		"?domain=crm.acme.test": 200, "?domain=x.acme.test": 404, "?domain=": 404, "": 404,
		"?domain=x&domain=crm.acme.test": 404, "?name=crm.acme.test": 404, "?domain=%zz": 404,
	} {
		if w := asked(t, listener, "GET", "/tls/ask"+query); w.Code != want {
			t.Errorf("%q: %d, want %d", query, w.Code, want)
		}
		if w := asked(t, unready, "GET", "/tls/ask"+query, func(r *http.Request) {
			r.SetBasicAuth("ops", "correct horse")
		}); w.Code != want {
			t.Errorf("%q before the database is there: %d, want %d", query, w.Code, want)
		}
		if w := asked(t, unready, "GET", "/tls/ask"+query); w.Code != 401 {
			t.Errorf("%q before the database is there, without the password: %d", query, w.Code)
		}
	}
	if w := asked(t, newOps(t), "GET", "/tls/ask?domain=crm.acme.test"); w.Code != 404 {
		t.Errorf("a process that knows no domains: %d", w.Code)
	}
}
