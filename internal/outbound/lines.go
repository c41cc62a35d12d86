package outbound

import (
	"net"
	"time"
)

// LineBounds limit the text that a server of a line protocol sends in one exchange. Each field must be set.
type LineBounds struct {
	Bytes  int // of all lines
	Lines  int
	Length int // of a line, in bytes
}

// Lines bounds the text that is read from a connection, above TLS. SetDeadline with a time begins an exchange, as on a
// Conn. It is not safe for concurrent use.
type Lines struct {
	net.Conn
	bounds LineBounds
	bytes  int // left
	lines  int
	length int
	cut    bool
}

// BoundLines returns the connection with bounds of its text. The first exchange begins now.
func BoundLines(c net.Conn, b LineBounds) *Lines {
	l := &Lines{Conn: c, bounds: b}
	l.resetBounds()
	return l
}

func (l *Lines) resetBounds() {
	l.bytes = l.bounds.Bytes
	l.lines = l.bounds.Lines
	l.length = l.bounds.Length
}

// Read implements net.Conn. The error is ErrTooMuch in place of text beyond the bounds.
func (l *Lines) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	for _, b := range p[:n] {
		l.bytes--
		l.length--
		if l.bytes < 0 || l.length < 0 || l.lines <= 0 {
			l.cut = true
			return 0, ErrTooMuch
		}
		if b == '\n' {
			l.lines--
			l.length = l.bounds.Length
		}
	}

	l.cut = err != nil && l.length < l.bounds.Length
	return n, err
}

// Cut reports whether the last Read failed within a line. Readers of line protocols, such as that of net/textproto,
// take a line without an end for a whole one, and drop the error.
func (l *Lines) Cut() bool { return l.cut }

// SetDeadline implements net.Conn.
func (l *Lines) SetDeadline(t time.Time) error {
	if !t.IsZero() {
		l.resetBounds()
	}
	return l.Conn.SetDeadline(t)
}

// Greeted returns a connection from which text is read before what the server sends. A client that expects a greeting
// gets one in this way on a connection whose server has greeted it before TLS.
func Greeted(c net.Conn, text string) net.Conn { return &greeted{c, text} }

type greeted struct {
	net.Conn
	text string // left
}

// Read implements net.Conn.
func (g *greeted) Read(p []byte) (int, error) {
	if g.text == "" {
		return g.Conn.Read(p)
	}
	n := copy(p, g.text)
	g.text = g.text[n:]
	return n, nil
}
