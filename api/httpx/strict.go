package httpx

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/framing"
)

// ServeStrictly serves srv on ln like srv.Serve, but refuses requests with invalid framing.
func ServeStrictly(srv *http.Server, ln net.Listener) error {
	next := srv.Handler
	srv.ConnContext = framing.WithConn
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case framing.IsRefusal(r.RequestURI):
			f := framing.RefusalOf(r.Context())
			if f == nil {
				f = fault.New(fault.MalformedRequest, unreadable)
			}
			w.Header().Set("Connection", "close")
			WriteProblem(w, r, f)
		case len(r.TransferEncoding) > 0:
			body := &strictBody{ReadCloser: r.Body, ctx: r.Context()}
			r.Body = body
			next.ServeHTTP(&strictWriter{ResponseWriter: w, request: r, body: body}, r)
		default:
			next.ServeHTTP(w, r)
		}
	})

	return srv.Serve(framing.Listen(ln, framing.Limits{Bytes: srv.MaxHeaderBytes, Time: srv.ReadHeaderTimeout}))
}

// strictBody records a framing error of the body.
type strictBody struct {
	io.ReadCloser
	ctx     context.Context //nolint:containedctx // its request's
	refusal *fault.Fault
}

func (b *strictBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.refusal = framing.RefusalOf(b.ctx)
	}
	return n, err
}

// strictWriter replaces the handler's response with the body's framing error, if there is one.
type strictWriter struct {
	http.ResponseWriter
	request *http.Request
	body    *strictBody
	begun   bool
	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (w *strictWriter) WriteHeader(status int) {
	if w.refused = w.body.refusal != nil && !w.begun; w.refused {
		clear(w.Header())
		w.Header().Set("Connection", "close")
		WriteProblem(w.ResponseWriter, w.request, w.body.refusal)
	} else {
		w.ResponseWriter.WriteHeader(status)
	}
	w.begun = true
}

// Write implements http.ResponseWriter.
func (w *strictWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap supports http.ResponseController.
func (w *strictWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteProblem writes f as the response of a net/http handler.
func WriteProblem(w http.ResponseWriter, r *http.Request, f *fault.Fault) {
	rid := RequestID(r.Header.Get("X-Request-Id"))
	p := problemOf(f, &Request{ID: rid})
	maps.Copy(w.Header(), p.header)
	w.Header().Set("X-Request-Id", rid)
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = Marshal(w, p)
}
