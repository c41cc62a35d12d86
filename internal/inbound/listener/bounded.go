package listener

import (
	"net"
	"sync"
)

// bounded is a listener with a maximum of open connections. Accept waits for a slot.
type bounded struct {
	net.Listener
	slots chan struct{}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	b.slots <- struct{}{}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &slotConn{Conn: c, release: sync.OnceFunc(func() { <-b.slots })}, nil
}

// slotConn is a connection that frees its slot when it is closed.
type slotConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *slotConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
