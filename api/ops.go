package api

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/pprof" // #nosec G108 -- mounted by hand below, behind the guard; the default mux is never served
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// OpsOptions are what main hands to the ops listener of a process, whichever its role.
type OpsOptions struct {
	Role string // of the process, for the page at /: "api", "worker", "scheduler", "up"
	Log  *slog.Logger
	// Metrics is what /metrics shows; NewOps adds the Go runtime's and the process's own.
	Metrics *prometheus.Registry

	DB          *postgres.DB // asked by /readyz
	System      *postgres.DB // with DB, what acts on jobs; without it the dashboard changes nothing and there is no /jobs/
	Hooks       queue.Hooks  // what the kinds of jobs do when an operator ends their jobs or begins them again
	DatabaseURL string       // asked for migrations that are still to come
	RedisURL    string       // asked by /readyz and shown by the dashboard

	User, Password string   // basic auth; both or neither. Serve refuses a listener off loopback without them
	Hosts          []string // names, beside localhost and address literals, under which the listener is called
	ReadOnly       bool     // the dashboard and /jobs/ show and change nothing
	Worker         Slots    // of this process, where it runs jobs; else nil

	// Ending tells whether the process has been told to end: /readyz is 503 from then on, while what has begun ends. Nil: never.
	Ending func() bool

	// NotConfigured lists the parts that the install lacks, for /readyz.
	NotConfigured []Part
	// Ready are further checks of /readyz, by name. Of their errors it shows ErrUnpublished alone.
	Ready map[string]func(context.Context) error

	// Serves tells whether a TLS server may get a certificate for a name. It is asked on every first handshake, and answers
	// from memory. Nil: for none.
	Serves func(name string) bool

	// Mounts are further handlers by path prefix, such as "/sandbox/inbox/": a prefix that ends with a slash
	// takes everything below it. They get the path whole and are guarded like the rest.
	Mounts map[string]http.Handler
	// Receivers are those mounts that take POSTs from this machine without the password: who delivers webhooks to
	// the sandbox's inbox has none.
	Receivers []string
}

// Ops is the listener for those who run the service: health, metrics, the job dashboard. It is never on the
// public port.
type Ops struct {
	OpsOptions
	handler http.Handler
	ready   *readiness
	queues  *dashboard
	jobs    *jobDesk // nil without System
}

// NewOps makes the handlers and connects to nothing.
func NewOps(o OpsOptions) (*Ops, error) {
	if (o.User == "") != (o.Password == "") {
		return nil, errHalf
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector()} {
		var twice prometheus.AlreadyRegisteredError
		if err := o.Metrics.Register(c); err != nil && !errors.As(err, &twice) {
			return nil, fmt.Errorf("ops metrics: %w", err)
		}
	}
	ops := &Ops{OpsOptions: o}
	desk, err := newJobDesk(o)
	if err != nil {
		return nil, err
	}
	ops.jobs = desk
	if ops.queues, err = newDashboard(o.RedisURL, desk, o.ReadOnly, o.Log); err != nil {
		return nil, errors.Join(err, desk.close())
	}
	if ops.ready, err = newReadiness(o); err != nil {
		return nil, errors.Join(err, ops.queues.Close(), desk.close())
	}

	inner := http.NewServeMux()
	inner.Handle("GET /metrics", promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true, Timeout: 10 * time.Second}))
	inner.Handle(queuesPath+"/", ops.queues)
	inner.HandleFunc("GET /debug/pprof/", pprof.Index)
	inner.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	inner.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	inner.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	inner.Handle("GET "+askPath, Ask(o.Serves))
	inner.HandleFunc("GET /{$}", ops.contents)
	desk.mount(inner)
	o.mountSlots(inner, desk)
	for prefix, h := range o.Mounts {
		inner.Handle(prefix, h)
	}
	outer := http.NewServeMux()
	outer.HandleFunc("GET /healthz", healthy)
	outer.Handle("GET /readyz", ops.ready)
	outer.Handle("/", ops.guarded(inner))
	ops.handler = plainHeaders(outer)
	return ops, nil
}

var errHalf = errors.New("ops listener: the user and the password are given together")

// CheckOps tells whether NewOps and Serve would take an address with these credentials, for a process that asks
// before it does anything else.
func CheckOps(at net.Addr, user, password string) error {
	switch {
	case (user == "") != (password == ""):
		return errHalf
	case password == "" && !onlyHere(at):
		return fmt.Errorf("ops listener: %s can be reached from outside: set FUNNELWORK_OPS_USER and FUNNELWORK_OPS_PASSWORD, or listen on 127.0.0.1", at)
	default:
		return nil
	}
}

// Serve answers on ln until ctx ends, then gives open requests five seconds. It closes ln and the clients that
// NewOps made. It refuses, at once, a listener that others can reach when no password was set.
func (o *Ops) Serve(ctx context.Context, ln net.Listener) error {
	defer func() { _ = o.Close() }()
	if err := CheckOps(ln.Addr(), o.User, o.Password); err != nil {
		_ = ln.Close()
		return err
	}
	srv := &http.Server{
		Handler:           o.handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       75 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- serveStrictly(srv, ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("ops listener: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		_ = srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("ops listener: %w", err)
	}
	return nil
}

// Close gives back the clients of an Ops. Serve does it too.
func (o *Ops) Close() error { return errors.Join(o.queues.Close(), o.jobs.close(), o.ready.close()) }

// ServeHTTP answers one request as the listener would.
func (o *Ops) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler.ServeHTTP(w, r) }

// onlyHere tells whether an address can be reached from this machine alone.
func onlyHere(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	default:
		return false
	}
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// contents lists what the listener has.
func (o *Ops) contents(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><meta charset=utf-8><title>Funnelwork %[1]s</title><h1>Funnelwork %[1]s: operations</h1><ul>", html.EscapeString(o.Role))
	own := []string{"/healthz", "/readyz", "/metrics", askPath, queuesPath + "/"}
	if o.jobs != nil {
		own = append(own, jobsPath)
	}
	paths := slices.Concat(own, slices.Sorted(maps.Keys(o.Mounts)))
	for _, p := range paths {
		fmt.Fprintf(&b, "<li><a href=\"%[1]s\">%[1]s</a>", html.EscapeString(p))
	}
	_, _ = w.Write([]byte(b.String() + "</ul>\n"))
}
