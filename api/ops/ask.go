package ops

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
)

const askPath = "/tls/ask"

// Ask returns a handler for a TLS server's question whether it may obtain a certificate for the host in ?domain=. It
// returns 200 for a custom domain that is served and 404 for any other name. It needs neither Postgres nor Redis, so
// handshakes work during a database outage.
func Ask(serves func(name string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if names := r.URL.Query()["domain"]; len(names) == 1 && serves != nil && serves(names[0]) {
			_, _ = w.Write([]byte("served\n"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("no such domain\n"))
	})
}

// ServeUntil serves h on ln until done returns, and returns done's error. Afterwards ln accepts connections as before,
// and the connections accepted meanwhile are closed. It serves a process that cannot start yet, for example because its
// database is unavailable.
func ServeUntil(ctx context.Context, ln net.Listener, h http.Handler, done func(context.Context) error) error {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return done(ctx)
	}

	srv := &http.Server{
		Handler: plainHeaders(h), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = httpx.ServeStrictly(srv, borrowed{tcp}) })
	err := done(ctx)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()

	if srv.Shutdown(stop) != nil {
		_ = srv.Close()
	}

	serving.Wait()

	return errors.Join(err, tcp.SetDeadline(time.Time{}))
}

// borrowed is a listener that its server does not close: Close only ends Accept, which may be resumed.
type borrowed struct{ *net.TCPListener }

func (b borrowed) Close() error { return b.SetDeadline(time.Unix(1, 0)) }

// Unready is the ops listener of an API process that waits for its database: alive, not ready, and still serving the
// certificate check behind the usual guard.
func Unready(o Options) http.Handler {
	mux := http.NewServeMux()
	ops := &Listener{Options: o}
	mux.HandleFunc("GET /healthz", serveHealth)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the database is unavailable", http.StatusServiceUnavailable)
	})
	mux.Handle("GET "+askPath, ops.guardOperators(Ask(o.Serves)))
	return mux
}

// Away is the public listener of an API process that waits for its database. Every request is a 503.
func Away() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.WriteProblem(w, r, &fault.Fault{
			Code: fault.Unavailable, Detail: "The service cannot answer at the moment. Try again shortly.",
			RetryAfter: 5 * time.Second,
		})
	})
}
