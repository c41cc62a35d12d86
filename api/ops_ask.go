package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
)

const askPath = "/tls/ask"

// Ask answers a TLS server's question, whether it may get a certificate for the host in ?domain=: 200 for a custom domain
// that is served, 404 for any other name. It asks nobody, so that handshakes go on while the database is away.
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

// Meanwhile answers on ln with h until done returns, whose error it answers; then ln is as it was, and connections that it
// took are closed. It is for a process that cannot begin yet and knows something already.
func Meanwhile(ctx context.Context, ln net.Listener, h http.Handler, done func(context.Context) error) error {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return done(ctx)
	}
	srv := &http.Server{Handler: plainHeaders(h), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10}
	var serving sync.WaitGroup
	serving.Go(func() { _ = serveStrictly(srv, borrowed{tcp}) })
	err := done(ctx)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if srv.Shutdown(stop) != nil {
		_ = srv.Close()
	}
	serving.Wait()
	return errors.Join(err, tcp.SetDeadline(time.Time{}))
}

// borrowed is a listener that is not closed by who serves on it: its Accept ends, and can be begun again.
type borrowed struct{ *net.TCPListener }

func (b borrowed) Close() error { return b.SetDeadline(time.Unix(1, 0)) }

// Unready is the ops listener of an API process that waits for its database: it lives, is not ready, and goes on answering
// for certificates, guarded as ever.
func Unready(o OpsOptions) http.Handler {
	mux, ops := http.NewServeMux(), &Ops{OpsOptions: o}
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the database is away", http.StatusServiceUnavailable)
	})
	mux.Handle("GET "+askPath, ops.guarded(Ask(o.Serves)))
	return mux
}

// Away is the public listener of such a process: every request is a 503.
func Away() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, &fault.Fault{
			Code: fault.Unavailable, Detail: "The service cannot answer at the moment. Try again shortly.", RetryAfter: 5 * time.Second,
		})
	})
}
