package worker_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// badServer is a server of a neighbour: it accepts connections and is silent, slow or huge. One that refuses
// connections has a free port and no listener.
type badServer struct {
	host string
	port int
	mu   sync.Mutex
	all  []net.Conn
}

func (s *badServer) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// startBad starts a server that does what its name says. It ends with the test.
func startBad(t *testing.T, how string) *badServer {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr)
	s := &badServer{host: at.IP.String(), port: at.Port}
	if how == "refusing" {
		_ = l.Close()
		return s
	}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.all = append(s.all, c)
			s.mu.Unlock()
			working.Go(func() { speak(c, how) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, c := range s.all {
			_ = c.Close()
		}
		s.mu.Unlock()
		working.Wait()
	})
	return s
}

// speak ends with the connection.
func speak(c net.Conn, how string) {
	switch how {
	case "slow":
		for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
			if _, err := c.Write([]byte("2")); err != nil {
				tick.Stop()
				return
			}
		}
	case "huge": // a line that is too long for any protocol, then nothing
		line := []byte(strings.Repeat("2", 64<<10))
		for range 16 {
			if _, err := c.Write(line); err != nil {
				return
			}
		}
	}
}
