package httpx

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/framing"
)

// headLimits are the header limits of the public listener.
var headLimits = framing.Limits{Bytes: headerBytes, Time: readTimeout}

// isRefusal reports whether the request is a placeholder for one refused for its framing. Nearly every target begins
// with a slash and is checked without further work.
func isRefusal(target []byte) bool {
	return len(target) > 0 && target[0] != '/' && framing.IsRefusal(string(target))
}

// answerRefusal responds to a request which the public listener refused for its framing.
func (s *Server) answerRefusal(rc *fasthttp.RequestCtx) {
	c := s.Fiber.AcquireCtx(rc)
	defer s.Fiber.ReleaseCtx(c)
	var err error = fault.New(fault.MalformedRequest, unreadable)
	if f := refusalOf(c); f != nil {
		err = f
	}
	_ = s.refuse(c, err) // never fails
}

// refusalOf returns the reason why the connection's request was refused, or nil.
func refusalOf(c *fiber.Ctx) *fault.Fault {
	if l, ok := c.Context().Conn().(*conn); ok {
		return l.Refusal()
	}
	return nil
}

const unreadable = "This is not a request that we can read."

// bodyFault returns the fault for a body that could not be read to its end.
func bodyFault(err error, refusal *fault.Fault) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return fault.New(fault.RequestTimeout, "The request took too long to arrive.")
	}
	if refusal != nil {
		return refusal
	}
	return fault.New(fault.MalformedRequest, "The body ended early or has invalid framing.").Because(err)
}

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
