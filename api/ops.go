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
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// OpsOptions are the dependencies and settings of a process's ops listener, for every role.
type OpsOptions struct {
	Role string // shown at /: "api", "worker", "scheduler" or "up"
	Log  *slog.Logger
	// Metrics is served at /metrics. NewOps adds metrics of the Go runtime and of the process.
	Metrics *prometheus.Registry

	DB *postgres.DB // checked by /readyz
	// System, together with DB, is used to act on jobs. Without it the dashboard is read-only and /jobs/ does not
	// exist.
	System      *postgres.DB
	Hooks       store.Hooks   // hooks of job kinds for operators' archive, drop and run actions
	Aliases     store.Aliases // of job kinds that are being renamed
	DatabaseURL string        // checked for pending migrations
	RedisURL    string        // checked by /readyz; the dashboard's Redis

	User, Password string   // basic auth: both or neither; required off loopback
	Hosts          []string // accepted Host names besides localhost and IP addresses
	ReadOnly       bool     // makes the dashboard and /jobs/ read-only
	Worker         Slots    // this process's worker; nil if it runs no jobs

	// Ending reports whether the process is shutting down. From then on /readyz returns 503 while open work finishes.
	// Nil: never.
	Ending func() bool

	// NotConfigured lists the parts which the install lacks, for /readyz.
	NotConfigured []Part
	// Ready are additional checks of /readyz, by name. Of their error texts, /readyz shows only ErrUnpublished.
	Ready map[string]func(context.Context) error

	// Serves reports whether a TLS server may obtain a certificate for a name. It is called on every first handshake
	// and must answer from memory. Nil: for no name.
	Serves func(name string) bool

	// Mounts are additional handlers by path prefix, such as "/sandbox/inbox/". A prefix with a trailing slash matches
	// everything below it. Handlers get the full path, behind the same guard as the rest.
	Mounts map[string]http.Handler
	// Receivers are the mounts that accept POSTs from this machine without the password, since the sender of webhooks
	// to the sandbox's inbox has none.
	Receivers []string
}

// Ops is the listener for operators: health, metrics and the job dashboard. It never shares the public port.
type Ops struct {
	OpsOptions
	handler http.Handler
	ready   *readiness
	queues  *dashboard
	jobs    *jobsAPI // nil without System
}

// NewOps creates the handlers. It does not connect to any server.
func NewOps(o OpsOptions) (*Ops, error) {
	if (o.User == "") != (o.Password == "") {
		return nil, errHalf
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(),
	} {
		var twice prometheus.AlreadyRegisteredError
		if err := o.Metrics.Register(c); err != nil && !errors.As(err, &twice) {
			return nil, fmt.Errorf("ops metrics: %w", err)
		}
	}
	ops := &Ops{OpsOptions: o}
	desk, err := newJobsAPI(o)
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
	inner.Handle("GET /metrics",
		promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true, Timeout: 10 * time.Second}))
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

var errHalf = errors.New("FUNNELWORK_OPS_USER and FUNNELWORK_OPS_PASSWORD: set both or neither")

// CheckOps returns an error unless NewOps and Serve accept the address with these credentials. A process calls it
// before it starts anything else.
func CheckOps(at net.Addr, user, password string) error {
	switch {
	case (user == "") != (password == ""):
		return errHalf
	case password == "" && !onlyHere(at):
		return fmt.Errorf("ops listener: %s can be reached from outside: set FUNNELWORK_OPS_USER and "+
			"FUNNELWORK_OPS_PASSWORD, or listen on 127.0.0.1", at)
	default:
		return nil
	}
}

// Serve serves on ln until ctx ends, then gives open requests five seconds to finish. It closes ln and the clients
// created by NewOps. It returns an error immediately if other machines can reach the listener and no password is set.
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

// Close closes the clients of an Ops. Serve calls it too.
func (o *Ops) Close() error { return errors.Join(o.queues.Close(), o.jobs.close(), o.ready.close()) }

// ServeHTTP handles one request like the listener does.
func (o *Ops) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler.ServeHTTP(w, r) }

// onlyHere reports whether an address can be reached from this machine only.
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

// contents lists the paths of the listener.
func (o *Ops) contents(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var b strings.Builder
	fmt.Fprintf(&b,
		"<!doctype html><meta charset=utf-8><title>Funnelwork %[1]s</title><h1>Funnelwork %[1]s: operations</h1><ul>",
		html.EscapeString(o.Role))
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
