package listener

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits of connections at once. A connection above one is answered with 421 and closed at once, so that the
// connections of one network never keep others away.
const (
	maxPerAddress = 20  // of an IPv4 address, or an IPv6 /64
	maxPerNetwork = 60  // of an IPv4 /24, or an IPv6 /48
	maxConns      = 500 // of all strangers; the same number of trusted networks
)

// refusalTime bounds the writing of a refusal.
const refusalTime = 200 * time.Millisecond

// admission is a listener that admits connections within the limits.
type admission struct {
	net.Listener
	exempt  bool           // no limits per address: the clients are our own servers
	trusted []netip.Prefix // networks without limits per address
	metrics *Metrics

	mu    sync.Mutex
	open  map[netip.Prefix]int
	known int // connections of trusted networks
	all   int // connections of strangers
}

// Accept returns the next connection that is within the limits, as a *conn.
func (a *admission) Accept() (net.Conn, error) {
	for {
		c, err := a.Listener.Accept()
		if err != nil {
			return nil, err
		}
		limited, networks := a.classifyClient(c.RemoteAddr())
		if reason := a.admit(limited, networks); reason != "" {
			a.metrics.countRefused(reason)
			refuseConnection(c)
			continue
		}
		release := sync.OnceFunc(func() { a.release(limited, networks) })
		return newConn(c, networks, a.metrics, release), nil
	}
}

// classifyClient reports whether the limits hold for an address, and returns the networks that it counts for.
func (a *admission) classifyClient(addr net.Addr) (limited bool, networks []netip.Prefix) {
	at, ok := addr.(*net.TCPAddr)
	if a.exempt || !ok { // a client on a Unix socket is one of ours
		return false, nil
	}
	ip := at.AddrPort().Addr().Unmap().WithZone("")
	for _, n := range a.trusted {
		if n.Contains(ip) {
			return false, nil
		}
	}
	address, network := 32, 24
	if ip.Is6() {
		address, network = 64, 48
	}
	for _, bits := range []int{address, network} {
		p, err := ip.Prefix(bits)
		if err != nil { // never: the length fits the kind of the address
			return false, nil
		}
		networks = append(networks, p)
	}

	return true, networks
}

// admit counts a connection, or returns why it is refused.
func (a *admission) admit(limited bool, networks []netip.Prefix) (reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !limited {
		if a.known >= maxConns {
			return "all"
		}
		a.known++
		return ""
	}

	switch {
	case a.open[networks[0]] >= maxPerAddress:
		return "address"
	case a.open[networks[1]] >= maxPerNetwork:
		return "network"
	case a.all >= maxConns:
		return "all"
	}

	a.all++
	for _, n := range networks {
		a.open[n]++
	}

	return ""
}

func (a *admission) release(limited bool, networks []netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !limited {
		a.known--
		return
	}
	a.all--
	for _, n := range networks {
		if a.open[n]--; a.open[n] == 0 {
			delete(a.open, n)
		}
	}
}

// refuseConnection answers a connection that is not admitted. The answer fits the socket's buffer, so nothing waits for
// the client.
func refuseConnection(c net.Conn) {
	_ = c.SetWriteDeadline(time.Now().Add(refusalTime))
	_, _ = c.Write([]byte("421 4.7.0 Too many connections, try again later\r\n"))
	_ = c.Close()
}
