package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// receiver responds to everything with 200 after delay, or 500 while refuse is set, and records when each webhook-id
// first arrived, and the age of its event then. The event's created_at is from just before its commit, so the ages are
// upper bounds.
// One webhook of each refuseOnce, if that is not 0, gets a 500 at first, and is recorded when it comes again.
type receiver struct {
	url    string
	server *fasthttp.Server
	mu     sync.Mutex
	ages   map[string]time.Duration
	body   []byte
	refuse atomic.Bool
	delay  atomic.Int64  // nanoseconds
	more   chan struct{} // capacity 1: signals an arrival

	refuseOnce int
	came       int
	refused    map[string]bool
}

func receive(ctx context.Context) (*receiver, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{
		url: "http://" + ln.Addr().String() + "/hook", ages: map[string]time.Duration{},
		more: make(chan struct{}, 1), refused: map[string]bool{},
	}
	r.server = &fasthttp.Server{Handler: r.take, NoDefaultServerHeader: true}
	go func() { _ = r.server.Serve(ln) }()
	return r, nil
}

var createdAt = []byte(`"created_at":"`)

func (r *receiver) take(c *fasthttp.RequestCtx) {
	if r.refuse.Load() {
		c.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
	at, body := time.Now(), c.PostBody()
	name := string(c.Request.Header.Peek("Webhook-Id"))
	var age time.Duration
	if i := bytes.Index(body, createdAt); i >= 0 {
		if j := bytes.IndexByte(body[i+len(createdAt):], '"'); j >= 0 {
			if made, err := time.Parse(time.RFC3339Nano, string(body[i+len(createdAt):][:j])); err == nil {
				age = at.Sub(made)
			}
		}
	}
	r.mu.Lock()
	if r.refusesNow(name) {
		r.mu.Unlock()
		c.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
	if _, twice := r.ages[name]; !twice && name != "" {
		r.ages[name] = age
		r.body = append(r.body[:0], body...)
	}
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	if d := r.delay.Load(); d > 0 {
		<-time.After(time.Duration(d))
	}
}

// refusesNow reports whether the webhook with that id gets its one 500. The caller must hold the mutex.
func (r *receiver) refusesNow(name string) bool {
	if r.refuseOnce == 0 || r.refused[name] {
		return false
	}
	r.came++
	if r.came%r.refuseOnce != 0 {
		return false
	}
	r.refused[name] = true
	return true
}

// await waits until n different events have arrived.
func (r *receiver) await(ctx context.Context, n int) error {
	for {
		r.mu.Lock()
		got := len(r.ages)
		r.mu.Unlock()
		if got >= n {
			return nil
		}
		select {
		case <-r.more:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d events arrived: %w", got, n, ctx.Err())
		}
	}
}

func (r *receiver) took() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]time.Duration, 0, len(r.ages))
	for _, d := range r.ages {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

func (r *receiver) last() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.body)
}

func (r *receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.ages)
}

func (r *receiver) close() { _ = r.server.Shutdown() }
