package framing

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Limits are the limits on a request's head.
type Limits struct {
	Bytes int
	Time  time.Duration // from the head's first byte to its last
}

// Listen returns a listener whose connections are Conns.
func Listen(ln net.Listener, l Limits) net.Listener { return &listener{Listener: ln, limits: l} }

type listener struct {
	net.Listener
	limits Limits
}

// Accept returns a Conn.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return NewConn(c, l.limits), nil
}

// Conn passes on only requests with unambiguous framing. Like any net.Conn it is read by one goroutine at a time; its
// other methods are safe for concurrent use.
type Conn struct {
	net.Conn
	limits Limits

	scan    scanner
	held    []byte // the beginning of an incomplete head
	ready   []byte // to be read first
	end     error  // the error of all reads after ready
	refusal *fault.Fault

	linger atomic.Bool

	mu       sync.Mutex
	deadline time.Time // for reads, set by the server
	headEnd  time.Time // of the held head; zero without one
}

// Limits on how much of a refused request is read before its connection closes.
const (
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// NewConn returns a Conn that reads from c.
func NewConn(c net.Conn, l Limits) *Conn { return &Conn{Conn: c, limits: l} }

// Refusal returns why a request was refused, or nil. It may be called while the server handles the replacement of a
// refused request, and after a read of a body has failed.
func (c *Conn) Refusal() *fault.Fault { return c.refusal }

// Linger makes Close read what the client still sends. Without it the kernel would reset the connection, and the client
// would never read its response.
func (c *Conn) Linger() { c.linger.Store(true) }

// Read returns complete heads, and the data after them as it arrives. It blocks while a head is incomplete.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		switch {
		case len(c.ready) > 0:
			n := copy(p, c.ready)
			c.ready = c.ready[n:]
			return n, nil
		case c.end != nil:
			return 0, c.end
		case len(c.held) > 0:
			if err := c.readHeld(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := c.Conn.Read(p)
		if n == 0 {
			return 0, err
		}
		good, rest := c.scanInput(p[:n])
		if len(rest) > 0 {
			c.holdHead(rest)
		}
		if good > 0 {
			return good, nil
		}
	}
}

// readHeld reads more of an incomplete head. After an error, the head is still held.
func (c *Conn) readHeld() error {
	if cap(c.held)-len(c.held) < 512 {
		c.held = append(make([]byte, 0, 2*cap(c.held)+512), c.held...)
	}
	n, err := c.Conn.Read(c.held[len(c.held):cap(c.held)])
	if n > 0 {
		all := c.held[:len(c.held)+n]
		good, rest := c.scanInput(all)
		if good > 0 || c.end != nil {
			c.held = nil
			c.headDeadline(false)
			c.ready = append(all[:good:good], c.ready...)
			if len(rest) > 0 {
				c.holdHead(rest)
			}
			return nil
		}
		c.held = rest
		if len(rest) == 0 {
			c.headDeadline(false)
		}
		return nil
	}
	switch {
	case errors.Is(err, io.EOF):
		c.replaceRequest(errEndedEarly)
	case errors.Is(err, os.ErrDeadlineExceeded) && c.isHeadLate():
		c.replaceRequest(errTooSlow)
	default:
		return err
	}

	c.held = nil
	c.headDeadline(false)
	return nil
}

// scanInput scans b. It returns the number of bytes at the front of b that the server may read, and the part of an
// incomplete head.
func (c *Conn) scanInput(b []byte) (good int, rest []byte) {
	head := -1 // offset in b of the current request's head; -1 if not in b
	for i := 0; i < len(b); {
		if !c.scan.inHead() {
			taken, kept, refused := c.scan.scanBody(b[i:])
			if refused != nil {
				if head >= 0 { // the server has not seen its head
					c.replaceRequest(refused)
					return head, nil
				}
				c.refusal = refused
				c.end = refused
				c.Linger()
				return good + copy(b[good:], b[i:i+kept]), nil
			}
			if good != i {
				copy(b[good:], b[i:i+kept])
			}
			i, good = i+taken, good+kept
			continue
		}
		if n := c.scan.emptyLine(b[i:]); n > 0 {
			if i += n; n == 1 {
				return good, b[i-1:]
			}
			continue
		}
		n, refused := c.scan.scanHead(b[i:])
		switch {
		case refused == nil && n > c.limits.Bytes, n == 0 && refused == nil && len(b)-i > c.limits.Bytes:
			refused = c.tooLarge()
			fallthrough
		case refused != nil:
			c.replaceRequest(refused)
			return good, nil
		case n == 0:
			return good, b[i:]
		}
		head = good
		if good != i {
			copy(b[good:], b[i:i+n])
		}
		i, good = i+n, good+n
	}

	return good, nil
}

// replaceRequest replaces the current request with one that reports the refusal.
func (c *Conn) replaceRequest(why *fault.Fault) {
	c.refusal = why
	c.ready = []byte(standIn)
	c.end = io.EOF
	c.Linger()
}

func (c *Conn) tooLarge() *fault.Fault {
	return fault.Newf(fault.HeaderTooLarge, "The address and the headers may have %d KiB together.", c.limits.Bytes>>10)
}

// holdHead stores the beginning of a head and starts its timeout.
func (c *Conn) holdHead(b []byte) {
	c.held = append(make([]byte, 0, len(b)+1024), b...)
	c.headDeadline(true)
}

func (c *Conn) headDeadline(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headEnd = time.Time{}
	if on {
		c.headEnd = time.Now().Add(c.limits.Time)
	}
	_ = c.setDeadline() // if it fails, the next read fails too
}

// isHeadLate reports whether the head's timeout has passed.
func (c *Conn) isHeadLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.headEnd.IsZero() && !time.Now().Before(c.headEnd)
}

// setDeadline sets the earlier of both deadlines. The caller must hold the lock.
func (c *Conn) setDeadline() error {
	at := c.deadline
	if !c.headEnd.IsZero() && (at.IsZero() || c.headEnd.Before(at)) {
		at = c.headEnd
	}
	return c.Conn.SetReadDeadline(at)
}

// SetReadDeadline implements net.Conn. The timeout of a held head may end the read earlier.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.setDeadline()
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite closes the sending direction and leaves the receiving one open.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close implements net.Conn; see Linger.
func (c *Conn) Close() error {
	if c.linger.Swap(false) && c.CloseWrite() == nil {
		_ = c.Conn.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, lingerBytes))
	}
	return c.Conn.Close()
}

type contextKey struct{}

// WithConn is a ConnContext for net/http. It enables RefusalOf to find the connection of a request.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// RefusalOf returns the Refusal of a request's connection.
func RefusalOf(ctx context.Context) *fault.Fault {
	if c, ok := ctx.Value(contextKey{}).(*Conn); ok {
		return c.Refusal()
	}
	return nil
}
