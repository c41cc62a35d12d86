package submission

import (
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

const (
	// idleFor is how long a connection is kept without a mail. Servers allow five minutes (RFC 5321 section 4.5.3.2.7),
	// but many of them bound the connections of one sender.
	idleFor = 5 * time.Second
	// maxIdle bounds the idle connections of a process.
	maxIdle = 256
	// maxMails is the number of mails that one connection takes; servers close it after some hundred.
	maxMails = 50
)

// key identifies the connections that a mail may use: those of its mailbox with the same server and credentials.
type key struct {
	mailbox id.ID
	server  transport.Server
}

// Idle keeps the connections of mailboxes open between two mails: most of what a mail costs the worker without it is
// the connection, more so with TLS. A mailbox has no more connections than mails that are sent at the same time, since
// a mail takes an idle one first. Idle is safe for concurrent use.
type Idle struct {
	mu    sync.Mutex
	conns map[key][]*idle
	n     int
}

type idle struct {
	conn  *transport.Conn
	timer *time.Timer // closes the connection
}

// take returns the connection of k that was used last, or nil.
func (i *Idle) take(k key) *transport.Conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.conns[k]
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	last.timer.Stop()
	i.remove(k, len(all)-1)
	return last.conn
}

// put keeps the connection, or closes it if there are enough.
func (i *Idle) put(k key, conn *transport.Conn) {
	if !i.keep(k, conn) {
		_ = conn.Close()
	}
}

func (i *Idle) keep(k key, conn *transport.Conn) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.n >= maxIdle || conn.Mails() >= maxMails {
		return false
	}
	if i.conns == nil {
		i.conns = map[key][]*idle{}
	}
	kept := &idle{conn: conn}
	kept.timer = time.AfterFunc(idleFor, func() { i.expire(k, kept) })
	i.conns[k] = append(i.conns[k], kept)
	i.n++
	return true
}

// expire closes a connection unless a mail has taken it.
func (i *Idle) expire(k key, kept *idle) {
	i.mu.Lock()
	found := false
	for n, one := range i.conns[k] {
		if one == kept {
			i.remove(k, n)
			found = true
			break
		}
	}
	i.mu.Unlock()
	if found {
		_ = kept.conn.Close()
	}
}

func (i *Idle) remove(k key, n int) {
	if i.conns[k] = append(i.conns[k][:n], i.conns[k][n+1:]...); len(i.conns[k]) == 0 {
		delete(i.conns, k)
	}
	i.n--
}
