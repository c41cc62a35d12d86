package ops

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

	"github.com/funnelwork/funnelwork/api/httpx"
)

// New creates the handlers. It does not connect to any server.
func New(o Options) (*Listener, error) {
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

	ops := &Listener{Options: o}
	jobs, err := newJobsAPI(o)
	if err != nil {
		return nil, err
	}

	ops.jobs = jobs
	if ops.queues, err = newDashboard(o.RedisURL, jobs, o.ReadOnly, o.Log); err != nil {
		return nil, errors.Join(err, jobs.close())
	}
	if ops.ready, err = newReadiness(o); err != nil {
		return nil, errors.Join(err, ops.queues.Close(), jobs.close())
	}

	inner := &routes{ServeMux: http.NewServeMux()}
	inner.Handle("GET /metrics",
		promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true, Timeout: 10 * time.Second}))
	inner.Handle(queuesPath+"/", ops.queues)
	inner.HandleFunc("GET /debug/pprof/", pprof.Index)
	inner.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	inner.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	inner.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	inner.Handle("GET "+askPath, Ask(o.Serves))
	inner.HandleFunc("GET /{$}", ops.listPaths)
	inner.HandleFunc("GET "+openAPIPath, ops.serveDocument)
	jobs.mountRoutes(inner)
	jobs.mountOrgs(inner, o.Orgs)
	o.mountSlots(inner, jobs)
	for prefix, h := range o.Mounts {
		inner.Handle(prefix, h)
	}

	outer := http.NewServeMux()
	outer.HandleFunc("GET /healthz", serveHealth)
	outer.Handle("GET /readyz", ops.ready)
	outer.Handle("/", ops.guardOperators(inner))
	ops.routes = inner.json
	ops.handler = withRequestID(plainHeaders(outer))

	return ops, nil
}

var errHalf = errors.New("FUNNELWORK_OPS_USER and FUNNELWORK_OPS_PASSWORD: set both or neither")

// CheckAddress returns an error unless NewOps and Serve accept the address with these credentials. A process calls it
// before it starts anything else.
func CheckAddress(at net.Addr, user, password string) error {
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

// ServeHTTP handles one request.
func (o *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler.ServeHTTP(w, r) }

// Serve serves on ln until ctx ends, then gives open requests five seconds to finish. It closes ln and the clients
// created by NewOps. It returns an error immediately if other machines can reach the listener and no password is set.
func (o *Listener) Serve(ctx context.Context, ln net.Listener) error {
	defer func() { _ = o.Close() }()

	if err := CheckAddress(ln.Addr(), o.User, o.Password); err != nil {
		_ = ln.Close()
		return err
	}

	srv := &http.Server{
		Handler:           o,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       75 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- httpx.ServeStrictly(srv, ln) }()
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
func (o *Listener) Close() error {
	return errors.Join(o.queues.Close(), o.jobs.close(), o.ready.close())
}

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

// listPaths lists the paths of the listener.
func (o *Listener) listPaths(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var b strings.Builder
	fmt.Fprintf(&b,
		"<!doctype html><meta charset=utf-8><title>Funnelwork %[1]s</title><h1>Funnelwork %[1]s: operations</h1><ul>",
		html.EscapeString(o.Role))
	own := []string{"/healthz", "/readyz", "/metrics", askPath, queuesPath + "/", openAPIPath}
	if o.jobs != nil {
		own = append(own, jobsPath)
	}
	if o.jobs != nil && o.Orgs != nil {
		own = append(own, orgsPath)
	}

	paths := slices.Concat(own, slices.Sorted(maps.Keys(o.Mounts)))
	for _, p := range paths {
		if strings.HasSuffix(p, ".css") { // part of the pages
			continue
		}
		fmt.Fprintf(&b, "<li><a href=\"%[1]s\">%[1]s</a>", html.EscapeString(p))
	}

	b.WriteString("</ul><h2>JSON</h2><ul>")
	for _, pattern := range o.JSONRoutes() {
		fmt.Fprintf(&b, "<li><code>%s</code>", html.EscapeString(pattern))
	}

	_, _ = w.Write([]byte(b.String() + "</ul>\n"))
}
