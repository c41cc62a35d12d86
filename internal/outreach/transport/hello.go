package transport

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// HelloName returns the name that a client introduces itself with: the given one, else the host of a public URL. It is
// "" if that is a name or an address of the machine itself, which says nothing to a server, and which many refuse.
func HelloName(name, publicURL string) string {
	if name != "" {
		return name
	}
	at, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	host := strings.TrimSuffix(at.Hostname(), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsLoopback() || ip.IsUnspecified() {
			return ""
		}
		return literal(ip)
	}
	if host, err = idna.Lookup.ToASCII(host); err != nil || !strings.Contains(host, ".") ||
		strings.HasSuffix(host, ".localhost") {
		return ""
	}

	return host
}

// nameOn returns the name that the client introduces itself with on a connection: an address literal (RFC 5321 section
// 4.1.3) if it has none.
func (d *Dialer) nameOn(conn net.Conn) string {
	ip := netip.AddrFrom4([4]byte{127, 0, 0, 1}) // of a connection within the process
	if at, ok := conn.LocalAddr().(*net.TCPAddr); ok {
		if a, ok := netip.AddrFromSlice(at.IP); ok {
			ip = a.Unmap()
		}
	}
	return cmp.Or(d.Name, literal(ip))
}

func literal(ip netip.Addr) string {
	if ip = ip.WithZone(""); ip.Is4() {
		return "[" + ip.String() + "]"
	}
	return "[IPv6:" + ip.String() + "]"
}
