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
}

func watching(begun time.Time) *stopwatch { return &stopwatch{begun: begun} }

func (w *stopwatch) in(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { w.do(func(now time.Time) { w.dns = now }) },
		DNSDone:           func(httptrace.DNSDoneInfo) { w.do(func(now time.Time) { w.t.DNS = now.Sub(w.dns) }) },
		TLSHandshakeStart: func() { w.do(func(now time.Time) { w.tls = now }) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { w.do(func(now time.Time) { w.t.TLS = now.Sub(w.tls) }) },
		ConnectStart: func(_, _ string) {
			w.do(func(now time.Time) {
				if w.conn.IsZero() { // the first of several addresses
					w.conn = now
				}
			})
		},
		ConnectDone: func(_, address string, err error) {
			w.do(func(now time.Time) {
				w.t.Connect = now.Sub(w.conn)
				if err == nil || w.remote == "" {
					w.remote = address
				}
			})
		},
		GotConn: func(i httptrace.GotConnInfo) {
			w.do(func(time.Time) { w.remote = i.Conn.RemoteAddr().String() })
		},
		GotFirstResponseByte: func() { w.do(func(now time.Time) { w.t.FirstByte = now.Sub(w.begun) }) },
	})
}

func (w *stopwatch) do(f func(now time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(time.Now())
}

func (w *stopwatch) done() (Timings, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.t
	t.Total = time.Since(w.begun)
	return t, w.remote
}
