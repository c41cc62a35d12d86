package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/look"
)

// Path is where Handler is mounted.
const Path = "/sandbox/oauth/"

// TokenMark is part of every token that the sandbox issues, so that leaked tokens can be searched for. CodeMark is the
// same for codes.
const (
	TokenMark = "sbxtok"
	CodeMark  = "sbxcode"
)

const maxBody = 1 << 20

// Options configures a Sandbox.
type Options struct {
	Store Store // nil: a new Memory
	Log   *slog.Logger
	// Now is the real clock; nil means time.Now. The sandbox's clock is Now plus all advances.
	Now func() time.Time
	// Callbacks lists the prefixes of allowed redirect URIs, such as "https://crm.example.com/oauth/"; empty means any
	// http or https address, for tests.
	Callbacks []string
}

// Sandbox replaces the providers. It is safe for concurrent use; several sandboxes, also in different processes, may
// share a store.
type Sandbox struct {
	o      Options
	routes *http.ServeMux
	calls  sync.WaitGroup // running handlers of Transports, also abandoned ones
}

// New returns a Sandbox; it does not access the store.
func New(o Options) *Sandbox {
	if o.Store == nil {
		o.Store = NewMemory()
	}

	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	s := &Sandbox{o: o, routes: http.NewServeMux()}
	for _, d := range dialects() {
		for pattern, h := range d.routes {
			method, address, _ := strings.Cut(pattern, " ")
			s.routes.Handle(method+" "+Path+address, s.routeHandler(d, h))
		}
	}

	s.mountConsent()
	s.mountPage()

	return s
}

// Handler returns the handler of everything below Path. A client of it can act as any person and provider, so it must
// be mounted on the operators' listener only.
func (s *Sandbox) Handler() http.Handler { return s.routes }

// Close waits for requests that their callers abandoned.
func (s *Sandbox) Close() { s.calls.Wait() }

// Client returns the client id and secret that a family accepts: "facebook", "instagram", "linkedin", "x", "tiktok",
// "tiktok_ads", "google", "pinterest", "microsoft", "x_ads".
func Client(family string) (id, secret string) {
	return "sandbox-" + family, "sandbox-" + family + "-secret"
}

// call is one request to a provider.
type call struct {
	s      *Sandbox
	tx     *tx
	d      *dialect
	r      *http.Request
	params map[string]string // of the query and the body
}

func (c *call) param(name string) string { return c.params[name] }

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   any // encoded as JSON, or a page, a form or a raw string
}

// page is HTML rendered from a template.
type page []byte

func success(body any) *answer { return &answer{status: http.StatusOK, body: body} }

// route is one endpoint of a provider.
type route struct {
	op op
	do func(*call) *answer
}

// op classifies requests, for faults and counts.
type op string

const (
	opRequest op = "request" // an OAuth 1.0a request token
	opToken   op = "token"
	opAPI     op = "api"
	opRevoke  op = "revoke"
)

// routeHandler returns the handler of a route: it finds the request's fault and runs the route in one unit of work.
func (s *Sandbox) routeHandler(d *dialect, rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		params, err := paramsOf(w, r)
		if err != nil {
			http.Error(w, "the request could not be read", http.StatusBadRequest)
			return
		}

		var a *answer
		var k Knobs
		var struck *Fault
		// A request that was begun is completed even if the caller gives up.
		err = s.updateState(context.WithoutCancel(r.Context()), func(tx *tx) {
			k = tx.knobsOf(d.family)
			struck = tx.takeFault(d.family, rt.op)
			c := &call{s: s, tx: tx, d: d, r: r, params: params}
			tx.countRequest(d.family, rt.op)
			if struck == nil || struck.Done {
				a = rt.do(c)
			}
			if struck != nil {
				a = struck.answer()
			}
		})
		if err != nil {
			s.o.Log.ErrorContext(r.Context(), "sandbox oauth failed", "path", r.URL.Path, "error", err)
			http.Error(w, "the sandbox failed", http.StatusInternalServerError)
			return
		}

		if !waitConnected(r.Context(), k.pickLatency()) {
			return
		}

		if struck != nil {
			struck.holdConnection(r.Context())
		}

		writeAnswer(w, a)
	})
}

// waitConnected waits for d, and reports whether the caller was still connected at the end.
func waitConnected(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}

	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func writeAnswer(w http.ResponseWriter, a *answer) {
	for key, values := range a.header {
		w.Header()[key] = values
	}

	switch body := a.body.(type) {
	case url.Values:
		w.Header().Set("Content-Type", "text/html;charset=utf-8") // X's content type for forms
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, body.Encode()) //nolint:gosec // percent-encoded
		return
	case page:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", look.OpenPolicy) // a consent leads to the callback
		w.WriteHeader(a.status)
		_, _ = w.Write(body) //nolint:gosec // html/template has escaped it
		return
	case string: // of a fault; must not run as part of the operator's page
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, body) //nolint:gosec // plain text
		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

// paramsOf returns the parameters of the query and of the body, which is a form or a flat JSON object.
func paramsOf(w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	params := map[string]string{}
	for key, values := range r.URL.Query() {
		params[key] = values[0]
	}

	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}

		for key, v := range body {
			if text, is := v.(string); is {
				params[key] = text
			}
		}

		return params, nil
	}

	if err := r.ParseForm(); err != nil {
		return nil, err
	}

	for key, values := range r.PostForm {
		params[key] = values[0]
	}

	return params, nil
}

// updateState runs fn with exclusive access to the state.
func (s *Sandbox) updateState(ctx context.Context, fn func(*tx)) error {
	return s.o.Store.Update(ctx, func(rows Tx) (err error) {
		defer func() {
			if v := recover(); v != nil {
				f, is := v.(failure)
				if !is {
					panic(v)
				}
				err = f.error
			}
		}()

		t := &tx{ctx: ctx, rows: rows}
		t.settings = readRow[settings](t, "settings", "settings")
		if t.settings == nil {
			t.settings = &settings{}
		}

		t.real = s.o.Now()
		t.now = t.real.Add(t.settings.Ahead.asDuration()).UTC()
		fn(t)

		return nil
	})
}

// tx is one unit of work on the state.
type tx struct {
	ctx      context.Context
	rows     Tx
	now      time.Time
	real     time.Time // now without the advances of the clock
	settings *settings
}

// failure is the panic value that carries a store's error.
type failure struct{ error }

// readRow returns a row, or nil if it does not exist.
func readRow[T any](t *tx, kind, id string) *T {
	raw, err := t.rows.Get(t.ctx, kind, id)
	if err != nil {
		panic(failure{err})
	}

	if raw == nil {
		return nil
	}

	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		panic(failure{err})
	}

	return v
}

func writeRow[T any](t *tx, kind, id string, v *T) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = t.rows.Put(t.ctx, kind, id, raw)
	}

	if err != nil {
		panic(failure{err})
	}
}

func deleteRow(t *tx, kind, id string) {
	if err := t.rows.Delete(t.ctx, kind, id); err != nil {
		panic(failure{err})
	}
}

func listRows[T any](t *tx, kind string, limit int) []*T {
	rows, err := t.rows.List(t.ctx, kind, limit)
	if err != nil {
		panic(failure{err})
	}

	var all []*T
	for _, raw := range rows {
		v := new(T)
		if err := json.Unmarshal(raw, v); err != nil {
			panic(failure{err})
		}
		all = append(all, v)
	}

	return all
}

var (
	errGone       = errors.New("no such login")
	errUnknownAct = errors.New("do must be set, strike, outage, clear, advance, issue, holder or kill")
)
