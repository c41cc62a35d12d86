package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	billingsync "github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sandbox/model"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/accountnotify"
	"github.com/funnelwork/funnelwork/jobs/adaccountssync"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/stripeevent"
	"github.com/funnelwork/funnelwork/jobs/tokenrevoke"
)

// service is a complete API on a TCP listener, with the test's own servers. Every response to its callers is validated
// against the OpenAPI document.
type service struct {
	testing.TB
	App  *api.App
	Deps api.Deps
	DB   *testkit.Database
	URL  string
	// Stripe replaces the payment processor. Its events are signed with StripeSecret; tests deliver them.
	Stripe        *stripe.Sandbox
	StripeSecret  string
	ConnectSecret string // for events of connected accounts
	// Model replaces the provider of language models.
	Model *model.Sandbox
	// OAuth replaces the social networks and ad platforms.
	OAuth *oauth.Sandbox

	reading
	seen *tally
}

// tally counts the bodies that kin-openapi may validate, by operation and status, or status alone for problems.
type tally struct {
	sync.Mutex
	bodies map[string]int
}

// start runs the API. change adjusts its Deps. Rate limits are on unless change removes them.
func start(t testing.TB, change ...func(*api.Deps)) *service {
	return startWith(t, api.New, append([]func(*api.Deps){operations}, change...)...)
}

// startLogged is start with a logger for the API and everything below it.
func startLogged(t testing.TB, log *slog.Logger, change ...func(*api.Deps)) *service {
	return startOn(t, api.New, log, append([]func(*api.Deps){operations}, change...)...)
}

// startThings is start with the resource of things_test.go.
func startThings(t testing.TB, change ...func(*api.Deps)) *service {
	s := startWith(t, api.NewWithThings, append([]func(*api.Deps){thingOperations}, change...)...)
	if _, err := testkit.Pgx(t, s.DB.URL).Exec(t.Context(), api.ThingTable); err != nil {
		t.Fatal(err)
	}
	return s
}

// The operations of an App are derived from their types once: that costs more than most tests.
var (
	operations      = shared(api.New)
	thingOperations = shared(api.NewWithThings)
	hubOperations   = shared(api.NewWithHosted)
)

// shared returns a change with which Apps that build makes have one contract.
func shared(build func(api.Deps) *api.App) func(*api.Deps) {
	contract := sync.OnceValue(func() *httpx.Contract {
		return build(api.Deps{Log: slog.New(slog.DiscardHandler)}).Contract
	})
	return func(d *api.Deps) { d.Operations = contract() }
}

// unlimited switches rate limits off, for tests that exceed them.
func unlimited(d *api.Deps) { d.Limits = nil }

func startWith(t testing.TB, build func(api.Deps) *api.App, change ...func(*api.Deps)) *service {
	t.Helper()
	return startOn(t, build, testkit.Log(t), change...)
}

func startOn(t testing.TB, build func(api.Deps) *api.App, log *slog.Logger, change ...func(*api.Deps)) *service {
	t.Helper()
	return startIn(t, testkit.DB(t), testkit.Box(t), build, log, change...)
}

// startIn is startOn in a database whose secrets are sealed with box.
func startIn(t testing.TB, db *testkit.Database, box *secret.Sealer, build func(api.Deps) *api.App, log *slog.Logger,
	change ...func(*api.Deps),
) *service {
	t.Helper()
	s := &service{TB: t}
	// The testing package keeps the functions of Cleanup until the process ends, and they keep s.
	t.Cleanup(func() { *s = service{} })
	s.DB, s.seen = db, &tally{bodies: map[string]int{}}
	client, err := redisx.Open(testkit.Redis(t), redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	limiter := limits.New(limits.Options{Redis: client, Log: log})
	t.Cleanup(limiter.Close)
	s.Deps = api.Deps{
		DB: s.DB.App, System: s.DB.System, Log: log, Box: box, Limits: limiter, PublicURL: "http://api.test",
		Hooks: &webhooks.Service{Box: box},
		Auth: auth.New(auth.Options{
			System: s.DB.System, App: s.DB.App, Box: box, Issuer: "http://api.test",
			Redis: client, Log: log, Unlimited: true,
		}),
	}
	s.Model = &model.Sandbox{}
	t.Cleanup(s.Model.Close)
	s.Deps.AI = ai.Open(ai.Options{
		Key: "k", URL: model.URL, Model: model.Name,
		HTTP: &http.Client{Transport: s.Model.Transport()},
	})
	s.Deps.Tokens = limits.NewTokens(client, log)
	s.Stripe = stripe.New(stripe.Options{Store: stripememory.New(), Log: log, PageURL: "http://ops.test" + stripe.Path})
	t.Cleanup(s.Stripe.Close)
	if s.StripeSecret, err = s.Stripe.Ensure(t.Context(), "http://api.test/billing/stripe/webhook", false); err != nil {
		t.Fatal(err)
	}
	if s.ConnectSecret, err = s.Stripe.Ensure(t.Context(), "http://api.test/billing/stripe/connect-webhook",
		true); err != nil {
		t.Fatal(err)
	}
	s.Deps.Billing = billing.New(billing.Options{
		Remind: func(ctx context.Context, tx *postgres.Tx, change id.ID) error {
			return billingsettle.Kind.Add(ctx, tx, billingsettle.Args{Change: change})
		},
		Arrived: func(ctx context.Context, tx *postgres.Tx, event string) error {
			return stripeevent.Kind.Add(ctx, tx, stripeevent.Args{Event: event})
		},
		Audit: func(ctx context.Context, tx *postgres.Tx, act billing.Act) {
			org.Audit(ctx, tx, org.Entry{Action: act.Action, Target: act.Target, ID: act.ID, Detail: act.Detail})
		},
		App: s.DB.App, System: s.DB.System, Catalogue: entitlementsync.Standard(), Secret: s.StripeSecret,
		ConnectSecret: s.ConnectSecret, Log: log,
		Account: billing.Account{
			Key: "sk_test_api", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: s.Stripe.Transport()}, Log: log,
		},
	})
	s.Deps.Domains = domains(s.DB.System)
	s.OAuth = oauth.New(oauth.Options{Log: log})
	t.Cleanup(s.OAuth.Close)
	s.Deps.Social = connections(s.OAuth, box, "http://api.test")
	for _, c := range change {
		c(&s.Deps)
	}
	s.App = build(s.Deps)
	s.serve()
	s.document()
	return s
}

// sync returns the sync of billing with the payment processor.
func (s *service) sync() *billingsync.Service { return billingsync.New(s.Deps.Billing) }

// connections returns the account service on the sandbox, with its jobs and audit log.
func connections(sandbox *oauth.Sandbox, box *secret.Sealer, publicURL string) *social.Service {
	return connectionsBy(sandbox.Transport(), box, publicURL)
}

// connectionsBy is connections with a custom transport for requests to the platforms.
func connectionsBy(carrier http.RoundTripper, box *secret.Sealer, publicURL string) *social.Service {
	apps := map[string]provider.App{}
	for _, family := range provider.Families() {
		client, password := oauth.Client(family)
		apps[family] = provider.App{
			ClientID: client, ClientSecret: provider.Secret(password),
			DeveloperToken: "sandbox", Base: "http://oauth.test" + oauth.Path,
		}
	}
	return social.New(social.Options{
		Providers: provider.New(provider.Options{Apps: apps, HTTP: &http.Client{Transport: carrier}}),
		Box:       box, PublicURL: publicURL,
		Revoke: func(ctx context.Context, tx *postgres.Tx, pending id.ID, at time.Time) error {
			return tokenrevoke.Kind.Add(ctx, tx, tokenrevoke.Args{Pending: pending}, queue.At(at))
		},
		Tell: func(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
			return accountnotify.Kind.Add(ctx, tx, accountnotify.Args{Grant: grant})
		},
		OwnTokens: adaccountssync.Ask,
		Audit: func(ctx context.Context, tx *postgres.Tx, act social.Act) {
			org.Audit(ctx, tx, org.Entry{Action: act.Action, Target: act.Target, ID: act.ID, Detail: act.Detail})
		},
	})
}

func (s *service) serve() {
	s.Helper()
	ln, err := (&net.ListenConfig{}).Listen(s.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.URL = "http://" + ln.Addr().String()
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	done := make(chan error, 1)
	go func() { done <- s.App.Serve(ctx, ln) }()
	s.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			s.Errorf("serve: %v", err)
		}
	})
}

// reading is the parsed API document.
type reading struct {
	spec   *openapi3.T
	find   routers.Router
	strict *schemas
}

// readings caches parsed documents by the ids of their operations, since encoding and parsing one takes longer than
// most tests. The document differs between tests that add operations.
var readings = struct {
	sync.Mutex
	of map[string]reading
}{of: map[string]reading{}}

// document fetches and parses the API document without a credential.
func (s *service) document() {
	s.Helper()
	readings.Lock()
	defer readings.Unlock()
	ids := make([]string, len(s.App.Ops))
	for i, o := range s.App.Ops {
		ids[i] = o.ID
	}
	key := strings.Join(ids, " ")
	r, known := readings.of[key]
	if !known {
		var err error
		text := string(s.App.Document())
		if r.spec, err = openapi3.NewLoader().LoadFromData([]byte(text)); err != nil {
			s.Fatalf("read the API document: %v", err)
		}
		r.spec.Servers = nil
		for _, schema := range r.spec.Components.Schemas {
			nameTypes(schema)
		}
		if r.find, err = gorillamux.NewRouter(r.spec); err != nil {
			s.Fatalf("read the API document: %v", err)
		}
		if r.strict, err = newSchemas(text); err != nil {
			s.Fatalf("read the API document: %v", err)
		}
		readings.of[key] = r
	}
	s.reading = r
}

// nameTypes gives each schema without a type all types by name. They mean the same in JSON Schema, but kin-openapi lets
// no null pass a schema without a type. The strict reader validates the same bodies by JSON Schema.
func nameTypes(ref *openapi3.SchemaRef) {
	if ref == nil || ref.Ref != "" || ref.Value == nil {
		return
	}
	v := ref.Value
	if v.Type == nil && len(v.OneOf)+len(v.AnyOf)+len(v.AllOf) == 0 {
		v.Type = &openapi3.Types{"null", "boolean", "number", "string", "array", "object"}
	}
	for _, property := range v.Properties {
		nameTypes(property)
	}
	nameTypes(v.Items)
	nameTypes(v.AdditionalProperties.Schema)
}

// caller is a principal of one org, or anonymous without a token.
type caller struct {
	*service
	Org, User id.ID
	Token     string
}

// stranger returns a caller without a credential.
func (s *service) stranger() *caller { return &caller{service: s} }

// signup creates an org and returns its owner.
func (s *service) signup() *caller {
	s.Helper()
	c := &caller{service: s, Org: id.New()}
	s.system(c.Org, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO org (id, name) VALUES ($1, 'Test')", c.Org)
		return nil
	})
	return c.as(auth.Owner)
}

// as returns another user of the caller's org.
func (c *caller) as(role auth.Role) *caller {
	c.Helper()
	user := id.New()
	email := user.String() + "@example.test"
	login := &auth.Session{User: auth.User{ID: user, Email: email}, Org: c.Org, Role: role}
	c.system(c.Org, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO app_user (id, email, email_folded) VALUES ($1, $2, $2)", user, email)
		tx.Queue("INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, $3)", c.Org, user, role)
		return c.Deps.Auth.Begin(c.Context(), tx, login)
	})
	return &caller{service: c.service, Org: c.Org, User: user, Token: login.AccessToken}
}

// key returns a new API key of the caller's org.
func (c *caller) key(role auth.Role) *caller {
	c.Helper()
	text, hash := auth.NewAPIKey(c.Org)
	err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
		_, err := org.AddKey(c.Context(), tx,
			org.NewKey{Name: "test", Role: string(role), Hash: hash, CreatedBy: c.User})
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return &caller{service: c.service, Org: c.Org, Token: text}
}

func (s *service) system(org id.ID, fn func(*postgres.Tx) error) {
	s.Helper()
	if err := s.DB.System.Tx(s.Context(), org, fn); err != nil {
		s.Fatal(err)
	}
}

// answer is a response.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// do sends a request and validates the response against the document. It sends body as is if it is a string or bytes,
// otherwise as JSON. headers are pairs.
func (c *caller) do(method, path string, body any, headers ...string) answer {
	c.Helper()
	got, err := c.try(method, path, body, headers...)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// try is do for requests that may break the connection.
func (c *caller) try(method, path string, body any, headers ...string) (answer, error) {
	c.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	case []byte:
		raw = b
	default:
		var err error
		if raw, err = json.Marshal(body); err != nil {
			c.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(c.Context(), method, c.URL+path, bytes.NewReader(raw))
	if err != nil {
		c.Fatal(err)
	}
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for pair := range slices.Chunk(headers, 2) {
		if req.Header.Set(pair[0], pair[1]); pair[0] == "Host" {
			req.Host = pair[1]
		}
		if pair[1] == "" {
			req.Header.Del(pair[0])
		}
	}
	res, err := keepAlive.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	got := answer{Status: res.StatusCode, Header: res.Header}
	if res.Header.Get("Content-Type") == eventStream { // it would not end; TestAStream... read it
		c.hold(req, got)
		return got, nil
	}
	if got.Body, err = io.ReadAll(res.Body); err != nil {
		return answer{}, err
	}
	c.hold(req, got)
	return got, nil
}

// keepAlive keeps as many idle connections as any test has concurrent clients; the default client keeps two.
// It follows no redirect.
var keepAlive = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 128, IdleConnTimeout: 30 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// hold validates one response: an error must be a problem with a known code, and the response must match the document.
// Every body is validated against the schema that s.strict compiled once. kin-openapi's check of a body compiles the
// schema each time, by the same library, which dominates the cost of these tests; what it adds is the media type. So it
// sees only the first bodies of each operation and status, and with -short, as in the race detector's run, none.
func (s *service) hold(req *http.Request, got answer) {
	s.Helper()
	what := req.Method + " " + req.URL.RequestURI()
	if got.Header.Get("X-Request-Id") == "" {
		s.Errorf("%s: no X-Request-Id", what)
	}
	if got.Status >= 400 && req.Method != http.MethodHead {
		s.problem(what, got)
	}
	route, params, err := s.find.FindRoute(httptest.NewRequest(req.Method, req.URL.RequestURI(), nil))
	if err != nil || req.Method == http.MethodHead {
		return
	}
	kind := got.Header.Get("Content-Type")
	text := kind == eventStream || strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "image/") ||
		kind == "application/x-ndjson" || strings.HasPrefix(kind, "text/csv") && rawRows(got.Header)
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 got.Status, Header: got.Header,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true, MultiError: true,
			ExcludeResponseBody: text || testing.Short() || !s.fresh(route, got.Status),
		},
	}
	in.SetBodyBytes(got.Body)
	if err := openapi3filter.ValidateResponse(s.Context(), in); err != nil {
		s.Errorf("%s: the answer %d is not what the document promises: %v\n%s", what, got.Status, err, got.Body)
	}
	if err := s.strict.hold(route.Method, route.Path, got.Status, kind, got.Body); err != nil {
		s.Errorf("%s: the answer %d does not fit its schema: %v\n%s", what, got.Status, err, got.Body)
	}
}

// rawRows reports whether a file has rows as people sent them: with their delimiter and quotes, which need not be CSV.
func rawRows(h http.Header) bool {
	return strings.Contains(h.Get("Content-Disposition"), "failed-rows")
}

// enough is the number of bodies of one operation and status which kin-openapi validates in a test.
const enough = 2

// fresh reports whether kin-openapi should still validate a body of this operation and status. Problems are the same in
// all operations (TestProblemsAreDocumentedByReference), so they are counted by status alone.
func (s *service) fresh(route *routers.Route, status int) bool {
	s.seen.Lock()
	defer s.seen.Unlock()
	key := strconv.Itoa(status)
	if status < http.StatusBadRequest {
		key = fmt.Sprint(route.Method, route.Path, status)
	}
	s.seen.bodies[key]++
	return s.seen.bodies[key] <= enough
}

func (s *service) problem(what string, got answer) {
	s.Helper()
	var p struct {
		Type, Title, Detail, Instance, Code string
		Status                              int
		RequestID                           string `json:"request_id"`
		Errors                              []fault.FieldError
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/problem+json" {
		s.Errorf("%s: %d has Content-Type %q: %s", what, got.Status, kind, got.Body)
		return
	}
	if err := json.Unmarshal(got.Body, &p); err != nil {
		s.Errorf("%s: %v", what, err)
	}
	rid := got.Header.Get("X-Request-Id")
	if !slices.Contains(fault.Codes(), fault.Code(p.Code)) || p.Status != got.Status {
		s.Errorf("%s: status %d with a problem of status %d, code %q", what, got.Status, p.Status, p.Code)
	}
	for member, text := range map[string]string{"type": p.Type, "title": p.Title, "detail": p.Detail} {
		if text == "" {
			s.Errorf("%s: the problem has no %s: %s", what, member, got.Body)
		}
	}
	if p.RequestID != rid || p.Instance != "urn:uuid:"+rid {
		s.Errorf("%s: the problem has request_id %q, instance %q; want %s", what, p.RequestID, p.Instance, rid)
	}
	for _, f := range p.Errors {
		if (f.Pointer == "") == (f.Parameter == "") {
			s.Errorf("%s: a field error has pointer %q, parameter %q; want one", what, f.Pointer, f.Parameter)
		}
		if f.Code == "" || f.Detail == "" {
			s.Errorf("%s: a field error has code %q, detail %q; want both", what, f.Code, f.Detail)
		}
	}
	for _, leak := range []string{"pgx", "SQLSTATE", "json:", "Go struct", "goroutine", ".go:", "secret words"} {
		if bytes.Contains(got.Body, []byte(leak)) {
			s.Errorf("%s: the problem tells inner matters: %s", what, got.Body)
		}
	}
}

// into decodes the body, or a part of it: "data" or "errors".
func (got answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(got.Body, v); err != nil {
		t.Fatalf("%v: %s", err, got.Body)
	}
}

// code returns the problem's code.
func (got answer) code() string {
	var p struct{ Code string }
	_ = json.Unmarshal(got.Body, &p)
	return p.Code
}

// want fails unless the response has this status and, for a problem, this code.
func (got answer) want(t testing.TB, status int, code string) answer {
	t.Helper()
	if got.Status != status || code != "" && got.code() != code {
		t.Errorf("have %d %s, want %d %s: %s", got.Status, got.code(), status, code, bytes.TrimSpace(got.Body))
	}
	return got
}

// field returns the location of the problem's first field error.
func (got answer) field() string {
	var p struct{ Errors []fault.FieldError }
	_ = json.Unmarshal(got.Body, &p)
	if len(p.Errors) == 0 {
		return ""
	}
	return p.Errors[0].Pointer + p.Errors[0].Parameter + " " + p.Errors[0].Code
}
