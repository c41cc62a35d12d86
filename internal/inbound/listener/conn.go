package listener

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits of a session.
const (
	maxSession  = 10 * time.Minute
	maxCommands = 100     // since the start or the last mail
	maxUnknown  = 50      // recipients that do not exist
	maxLine     = 8 << 10 // bytes of a command
)

// conn is a connection of a session. It ends a session that breaks a limit with an answer: of the server's library,
// only the bytes that it reads are seen.
type conn struct {
	net.Conn
	end      time.Time // of the session; zero: never
	limited  bool
	networks []netip.Prefix // the address and the network of a client with limits
	metrics  *Metrics
	release  func()

	mu       sync.Mutex
	line     commandLine
	commands int
	unknown  int
	inData   bool // the mail of a DATA command is being read
	over     bool // a limit has ended the session
}

// newConn returns the connection of a client that has no limits if it has no networks.
func newConn(c net.Conn, networks []netip.Prefix, m *Metrics, release func()) *conn {
	out := &conn{Conn: c, limited: len(networks) > 0, networks: networks, metrics: m, release: release}
	if out.limited {
		out.end = time.Now().Add(maxSession)
	}
	return out
}

// Read reads what the client has sent, up to where a limit ends the session. A command has the idle time as a whole, as
// the library sets the deadline of each; a mail has it for each read.
func (c *conn) Read(b []byte) (int, error) {
	if c.hasEnded() {
		return 0, io.EOF
	}
	if c.isReceiving() {
		if err := c.SetReadDeadline(time.Now().Add(idle)); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inData {
		n = c.countCommands(b[:n])
	}

	return n, err
}

// Write sends an answer of the library, unless the session has ended.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// isReceiving reports whether a mail is being read, or a chunk of one.
func (c *conn) isReceiving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inData || c.line.skip > 0
}

func (c *conn) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// countCommands counts the commands in bytes that are no mail's, and returns how many of the bytes the library may
// read. c.mu is held.
func (c *conn) countCommands(b []byte) int {
	most := len(b)
	if c.limited {
		most = maxCommands - c.commands
	}
	n, commands := c.line.readCommands(b, most)
	c.commands += commands
	switch {
	case c.line.tooLong():
		c.finishSession("line", "500 5.5.2 The line is too long, closing connection")
		return 0
	case n < len(b):
		c.finishSession("commands", "421 4.7.0 Too many commands without a mail, closing connection")
	}

	return n
}

// finishSession ends the session with an answer. The library's own answers to what it has read by then are dropped.
// c.mu is held.
func (c *conn) finishSession(reason, reply string) {
	if c.over {
		return
	}
	c.over = true
	c.metrics.countRefused(reason)
	_ = c.Conn.SetWriteDeadline(time.Now().Add(refusalTime))
	_, _ = c.Conn.Write([]byte(reply + "\r\n"))
}

// countUnknown counts a recipient that does not exist. One too many ends the session.
func (c *conn) countUnknown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unknown++; c.limited && c.unknown >= maxUnknown {
		c.finishSession("recipients", "421 4.7.0 Too many unknown recipients, closing connection")
	}
}

// startMail marks the begin of a mail. The chunks of BDAT are counted by their length.
func (c *conn) startMail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inData = !c.line.chunked
}

// takeMail marks that the mail was taken.
func (c *conn) takeMail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands = 0
}

// endMail marks that the mail has been read to its end, as the library does with one that is refused, too.
func (c *conn) endMail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inData = false
}

// The session's end bounds each deadline. A write may take a moment longer, to say so.
func (c *conn) SetDeadline(t time.Time) error {
	return firstError(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	return c.Conn.SetReadDeadline(c.boundDeadline(t, 0))
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.Conn.SetWriteDeadline(c.boundDeadline(t, 5*time.Second))
}

func (c *conn) boundDeadline(t time.Time, more time.Duration) time.Time {
	if last := c.end.Add(more); !c.end.IsZero() && (t.IsZero() || t.After(last)) {
		return last
	}
	return t
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// lingering bounds how long a close waits for what the client still sends. A close with unread bytes would reset the
// connection, and the client might never see the last answer.
const (
	lingering    = 500 * time.Millisecond
	lingerAtMost = 256 << 10 // bytes
)

// Close closes the connection and releases its place.
func (c *conn) Close() error {
	defer c.release()
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.hasEnded() && tcp.CloseWrite() == nil {
		_ = c.Conn.SetReadDeadline(time.Now().Add(lingering))
		_, _ = io.CopyN(io.Discard, c.Conn, lingerAtMost)
	}
	return c.Conn.Close()
}
