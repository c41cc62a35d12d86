package limits_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// fault is what a gate does to the traffic of one process with Redis.
type fault int

const (
	none           fault = iota
	holdRequests         // requests are delayed until the fault ends
	holdAnswers          // the script runs, and its replies are delayed until the fault ends
	loseAnswers          // the script runs, and the connection breaks
	refuse               // no connection
	slowAnswers          // replies take 30 ms longer
	verySlowAnswer       // replies take longer than a request waits
)

// gate is a TCP proxy in front of a redis-server.
type gate struct {
	addr    string
	mu      sync.Mutex
	change  *sync.Cond
	fault   fault
	clients map[net.Conn]bool
	closed  bool
}

func newGate(t testing.TB, url string) *gate {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{addr: ln.Addr().String(), clients: map[net.Conn]bool{}}
	g.change = sync.NewCond(&g.mu)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { g.serve(c, o.Network, o.Addr) })
		}
	})
	t.Cleanup(func() {
		g.mu.Lock()
		g.closed = true
		g.mu.Unlock()
		g.set(none)
		_ = ln.Close()
		g.cut()
		all.Wait()
	})
	return g
}

// set begins a fault; none ends it.
func (g *gate) set(f fault) {
	g.mu.Lock()
	g.fault = f
	g.change.Broadcast()
	g.mu.Unlock()
	if f == refuse {
		g.cut()
	}
}

func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.clients {
		_ = c.Close()
	}
}

// while waits for the end of a fault.
func (g *gate) while(f fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.fault == f {
		g.change.Wait()
	}
}

func (g *gate) has() fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault
}

// add reports whether the connection may continue.
func (g *gate) add(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.fault == refuse {
		return false
	}
	g.clients[c] = true
	return true
}

func (g *gate) serve(client net.Conn, network, addr string) {
	defer func() { _ = client.Close() }()
	if !g.add(client) {
		return
	}
	defer func() {
		g.mu.Lock()
		delete(g.clients, client)
		g.mu.Unlock()
	}()
	server, err := (&net.Dialer{}).DialContext(context.Background(), network, addr)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	both.Go(func() {
		pump(client, server, func() bool {
			g.while(holdRequests)
			return true
		})
		if c, ok := server.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite() // the server still reads what the client sent before
		}
	})
	pump(server, client, func() bool {
		switch g.has() {
		case slowAnswers:
			<-time.After(30 * time.Millisecond)
		case verySlowAnswer:
			<-time.After(90 * time.Millisecond)
		case loseAnswers:
			return false
		default:
			g.while(holdAnswers)
		}
		return true
	})
	_ = client.Close()
	both.Wait()
}

// pump copies until either end is closed, or pass returns false.
func pump(from, to net.Conn, pass func() bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !pass() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
