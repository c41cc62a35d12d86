package outbound

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"
)

// Timings holds the durations of the parts of a call; a part that did not happen, as on a reused connection, is 0.
type Timings struct {
	DNS, Connect, TLS time.Duration
	FirstByte         time.Duration // from the start of the call
	Total             time.Duration
}

// stopwatch collects timings. The transport may call its callbacks from its own goroutines, also after the call has
// ended.
type stopwatch struct {
	mu     sync.Mutex
	begun  time.Time
	dns    time.Time
	conn   time.Time
	tls    time.Time
	t      Timings
	remote string
	reused bool // the connection had been used by an earlier call
}

func newStopwatch(begun time.Time) *stopwatch { return &stopwatch{begun: begun} }

func (s *stopwatch) withTrace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { s.recordNow(func(now time.Time) { s.dns = now }) },
		DNSDone: func(httptrace.DNSDoneInfo) {
			s.recordNow(func(now time.Time) { s.t.DNS = now.Sub(s.dns) })
		},
		TLSHandshakeStart: func() { s.recordNow(func(now time.Time) { s.tls = now }) },
		TLSHandshakeDone: func(tls.ConnectionState, error) {
			s.recordNow(func(now time.Time) { s.t.TLS = now.Sub(s.tls) })
		},
		ConnectStart: func(_, _ string) {
			s.recordNow(func(now time.Time) {
				if s.conn.IsZero() { // the first of several addresses
					s.conn = now
				}
			})
		},
		ConnectDone: func(_, address string, err error) {
			s.recordNow(func(now time.Time) {
				s.t.Connect = now.Sub(s.conn)
				if err == nil || s.remote == "" {
					s.remote = address
				}
			})
		},
		GotConn: func(i httptrace.GotConnInfo) {
			s.recordNow(func(time.Time) { s.remote, s.reused = i.Conn.RemoteAddr().String(), i.Reused })
		},
		GotFirstResponseByte: func() { s.recordNow(func(now time.Time) { s.t.FirstByte = now.Sub(s.begun) }) },
	})
}

func (s *stopwatch) recordNow(f func(now time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(time.Now())
}

// keptConnectionBroke reports whether the call was made on a connection of an earlier one and got no byte.
func (s *stopwatch) keptConnectionBroke() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reused && s.t.FirstByte == 0
}

func (s *stopwatch) readTimings() (Timings, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.t
	t.Total = time.Since(s.begun)
	return t, s.remote
}
