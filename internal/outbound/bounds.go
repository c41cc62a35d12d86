package outbound

import (
	"errors"
	"net"
	"sync"
	"time"
)

// ErrTooMuch is the error of a server that sends more than a client reads.
var ErrTooMuch = errors.New("the server sends too much")

// Bounds limit what a server may make a client read. Each field must be set.
type Bounds struct {
	Total  int           // bytes from one Renew to the next
	Answer int           // bytes of one exchange
	Life   time.Duration // from one Renew to the next, however often deadlines are set
}

// Conn is a connection to a server that is not trusted. It counts what is read from the network, so under TLS it also
// bounds the handshake. Its bounds hold for every reader above it: neither an answer without an end nor one that drips
// is read for longer.
//
// SetDeadline with a time begins an exchange, that is a command and its answer: clients of line protocols call it once
// for each. TLS never does, so a server cannot begin an exchange. The other deadlines only shorten the exchange's.
//
// It is safe for concurrent use.
type Conn struct {
	net.Conn
	mu     sync.Mutex
	bounds Bounds
	total  int // bytes left
	answer int
	end    time.Time // of everything
	until  time.Time // of the exchange
	failed error     // of the last read
}

// Bound returns the connection with bounds. The first exchange begins now.
func Bound(c net.Conn, b Bounds) *Conn {
	bounded := &Conn{Conn: c}
	_ = bounded.Renew(b) // a closed connection fails when it is read
	return bounded
}

// Renew sets new bounds, and begins an exchange that ends with them.
func (c *Conn) Renew(b Bounds) error {
	c.mu.Lock()
	c.bounds = b
	c.total = b.Total
	c.end = time.Now().Add(b.Life)
	end := c.end
	c.mu.Unlock()
	return c.SetDeadline(end)
}

// Read implements net.Conn. The error is ErrTooMuch after the last byte that is allowed.
func (c *Conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	left := min(c.total, c.answer)
	c.mu.Unlock()
	if left <= 0 {
		return 0, ErrTooMuch
	}

	n, err := c.Conn.Read(p[:min(len(p), left)])
	c.mu.Lock()
	c.total -= n
	c.answer -= n
	if err != nil {
		c.failed = err
	}
	c.mu.Unlock()
	return n, err
}

// Failure returns the error of the last read that failed, or nil. Clients of protocols may not wrap it.
func (c *Conn) Failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// SetDeadline implements net.Conn. Without a time, the deadline is the end of the bounds' life.
func (c *Conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !t.IsZero() {
		c.answer = c.bounds.Answer
	}
	c.until = earlierTime(t, c.end)
	return c.Conn.SetDeadline(c.until)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetReadDeadline(earlierTime(t, c.until))
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetWriteDeadline(earlierTime(t, c.until))
}

// earlierTime returns the earlier of a deadline and an end. A deadline without a time is none.
func earlierTime(t, end time.Time) time.Time {
	if t.IsZero() || t.After(end) {
		return end
	}
	return t
}
