package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Path is where Handler is mounted.
const Path = "/sandbox/oauth/"

// TokenMark is a part of every token that the sandbox makes, for those who look for tokens where none should be.
// CodeMark is the same of codes.
const (
	TokenMark = "sbxtok"
	CodeMark  = "sbxcode"
)

const maxBody = 1 << 20

// Options of a Sandbox.
type Options struct {
	Store Store // nil: a Memory of its own
	Log   *slog.Logger
	// Now is the real time; nil is time.Now. The sandbox's clock is that plus what it was advanced by.
	Now func() time.Time
	// Callbacks are what redirect URIs may begin with, such as "https://crm.example.com/oauth/"; none: any http or
	// https address, for tests.
	Callbacks []string
}

// Sandbox stands in for the providers. It is safe for concurrent use, and several, also of several processes, may
// share a store.
type Sandbox struct {
	o      Options
	routes *http.ServeMux
	calls  sync.WaitGroup // those of a Transport that nobody waits for any more
}

// New makes a sandbox and touches nothing.
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
			s.routes.Handle(method+" "+Path+address, s.handle(d, h))
		}
	}
	s.mountConsent()
	s.mountPage()
	return s
}

// Handler answers everything below Path. Whoever reaches it can do whatever people and providers can, so it belongs on
// the operators' listener alone.
func (s *Sandbox) Handler() http.Handler { return s.routes }

// Close waits for calls whose callers went away.
func (s *Sandbox) Close() { s.calls.Wait() }

// Client answers the client id and secret that a family takes here: "facebook", "instagram", "linkedin", "x", "tiktok",
// "tiktok_ads", "google", "pinterest".
func Client(family string) (id, secret string) {
	return "sandbox-" + family, "sandbox-" + family + "-secret"
}

// call is one request to a provider.
type call struct {
	tx     *tx
	d      *dialect
	r      *http.Request
	params map[string]string // of the query and the body
}

func (c *call) get(name string) string { return c.params[name] }

// answer is what goes out.
type answer struct {
	status int
	header http.Header
	body   any // JSON; a page; or a string, as it is
}

// page is HTML that a template made.
type page []byte

func ok(body any) *answer { return &answer{status: http.StatusOK, body: body} }

// route is one endpoint of a provider.
type route struct {
	op op
	do func(*call) *answer
}

// op is what faults are chosen by.
type op string

const (
	opToken  op = "token"
	opAPI    op = "api"
	opRevoke op = "revoke"
)

// handle is the way of every request to a provider: which fault strikes, then one piece of work.
func (s *Sandbox) handle(d *dialect, rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		params, err := paramsOf(w, r)
		if err != nil {
			http.Error(w, "the request could not be read", http.StatusBadRequest)
			return
		}
		var a *answer
		var k Knobs
		var struck *Fault
		// What was begun is done, whether or not the caller waits for the answer.
		err = s.do(context.WithoutCancel(r.Context()), func(tx *tx) {
			k = tx.knobs(d.family)
			struck = tx.strike(d.family, rt.op)
			c := &call{tx: tx, d: d, r: r, params: params}
			tx.count(d.family, rt.op)
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
		if !wait(r.Context(), k.latency()) {
			return
		}
		if struck != nil {
			struck.hold(r.Context())
		}
		write(w, a)
	})
}

// wait lets d pass, and tells whether the caller was still there at the end.
func wait(ctx context.Context, d time.Duration) bool {
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

func write(w http.ResponseWriter, a *answer) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	switch body := a.body.(type) {
	case page:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = w.Write(body) //nolint:gosec // html/template has escaped it
		return
	case string: // of a fault, which the page of an operator has no say in
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, body) //nolint:gosec // plain text
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

// paramsOf reads the query and the body, a form or a flat JSON object.
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

// do runs fn alone on the state.
func (s *Sandbox) do(ctx context.Context, fn func(*tx)) error {
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
		t.settings = get[settings](t, "settings", "settings")
		if t.settings == nil {
			t.settings = &settings{}
		}
		t.now = s.o.Now().Add(t.settings.Ahead.d()).UTC()
		fn(t)
		return nil
	})
}

// tx is one piece of work on the state.
type tx struct {
	ctx      context.Context
	rows     Tx
	now      time.Time
	settings *settings
}

// failure is the panic that a store's error travels by.
type failure struct{ error }

// get answers nil where there is no such row.
func get[T any](t *tx, kind, id string) *T {
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

func put[T any](t *tx, kind, id string, v *T) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = t.rows.Put(t.ctx, kind, id, raw)
	}
	if err != nil {
		panic(failure{err})
	}
}

func drop(t *tx, kind, id string) {
	if err := t.rows.Delete(t.ctx, kind, id); err != nil {
		panic(failure{err})
	}
}

func list[T any](t *tx, kind string, limit int) []*T {
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
	errGone       = errors.New("there is no such login")
	errUnknownAct = errors.New("do must be set, strike, outage, clear, advance, issue, holder or kill")
)
