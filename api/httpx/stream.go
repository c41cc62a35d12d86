package httpx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Times of a stream.
const (
	streamWriteTime = 10 * time.Second       // for one chunk
	streamEndTime   = 250 * time.Millisecond // for a chunk that is being written when the stream ends
)

// Stream is a response body that is written after its handler has returned, for as long as the client reads it, the
// caller's rights last and the server is not shutting down.
//
// Its connection is taken from the server and closed at the end, so that a stream occupies none of the server's
// workers, and a client that is gone is noticed at once.
type Stream struct {
	// Run writes the body until ctx ends. It should return when a write fails.
	Run func(ctx context.Context, w *StreamWriter)
	// Close releases what the handler acquired. It is called once, even if Run never is.
	Close func()
}

// StartStream lets the request's response go on with st once the handler has returned without an error.
func StartStream(ctx context.Context, st *Stream) { RequestOf(ctx).stream = st }

// dropStream closes a stream that did not begin: its response is an error or that of a HEAD.
func (r *Request) dropStream() {
	if r.stream != nil {
		r.stream.Close()
		r.stream = nil
	}
}

// startStream begins the request's stream, if there is one and the response is a success. It sends the response's head
// itself: the server would add the length of an empty body.
func (s *Server) startStream(c *fiber.Ctx, r *Request) error {
	res := c.Response()
	if r.stream == nil || c.Method() != fiber.MethodGet || res.StatusCode() != fiber.StatusOK {
		return nil
	}

	ctx, end, ok := s.streams.add(context.WithoutCancel(c.UserContext()))
	if !ok {
		return fault.New(fault.Unavailable, "The server is shutting down. Connect again.")
	}

	st := r.stream
	r.stream = nil
	w := &StreamWriter{conn: c.Context().Conn(), chunked: c.Request().Header.IsHTTP11()}
	res.Header.SetConnectionClose()
	if w.chunked {
		res.Header.SetContentLength(-1)
	}

	head := bytes.Clone(res.Header.Header())
	stillAllowed := s.rightsCheck(c, r)
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(from net.Conn) {
		defer end()
		defer st.Close()
		s.runStream(ctx, st, w, head, from, stillAllowed)
	})

	return nil
}

// runStream writes a stream's response to its end and closes the connection.
func (s *Server) runStream(ctx context.Context, st *Stream, w *StreamWriter, head []byte, from io.Reader,
	allowed func(context.Context) error,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, w.shortenDeadline)()

	var helpers sync.WaitGroup
	helpers.Go(func() { // the client sends nothing more, so that a read ends when it is gone
		defer cancel()
		_, _ = io.Copy(io.Discard, from)
	})
	helpers.Go(func() {
		defer cancel()
		s.watchRights(ctx, allowed)
	})
	defer helpers.Wait()
	defer func() {
		if v := recover(); v != nil {
			s.Log.ErrorContext(ctx, "stream failed", "error", fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
		cancel()
		w.endBody()
		_ = w.conn.Close()
	}()

	if w.send(head) == nil {
		st.Run(ctx, w)
	}
}

// StreamWriter writes the body of a stream. It is used by one goroutine.
type StreamWriter struct {
	conn    net.Conn
	chunked bool
	failed  bool

	mu     sync.Mutex
	hasted bool // the stream ends
}

var errStreamEnded = errors.New("the stream has failed")

// Write sends p as one chunk, or fails after streamWriteTime if the client does not read.
func (w *StreamWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}

	b := p
	if w.chunked {
		b = make([]byte, 0, len(p)+16)
		b = strconv.AppendInt(b, int64(len(p)), 16)
		b = append(append(append(b, "\r\n"...), p...), "\r\n"...)
	}
	if err := w.send(b); err != nil {
		return 0, err
	}

	return len(p), nil
}

func (w *StreamWriter) send(b []byte) error {
	if w.failed {
		return errStreamEnded
	}

	w.mu.Lock()
	limit := streamWriteTime
	if w.hasted {
		limit = streamEndTime
	}

	err := w.conn.SetWriteDeadline(time.Now().Add(limit))
	w.mu.Unlock()
	if err == nil {
		_, err = w.conn.Write(b)
	}

	w.failed = err != nil

	return err
}

// shortenDeadline shortens the deadline of the current write and of all later ones, since the stream ends.
func (w *StreamWriter) shortenDeadline() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hasted = true
	_ = w.conn.SetWriteDeadline(time.Now().Add(streamEndTime)) // if it fails, the write fails too
}

// endBody tells the client that the body is complete.
func (w *StreamWriter) endBody() {
	if w.chunked && !w.failed {
		_ = w.send([]byte("0\r\n\r\n"))
	}
}
