package httpx

import (
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// perAddress limits one address on each route without a credential: 300 requests a minute, 600 in 30 s. It protects
// against one client using up the service. Limits that protect passwords and email addresses are in package auth.
var perAddress = limits.PerMinute(300)

// LimitAddress counts a request without a credential against its client address.
func (s *Server) LimitAddress(c *fiber.Ctx, r *Request) error {
	if s.Limits == nil {
		return nil
	}

	d := s.Limits.Take(c.UserContext(), "ip "+r.Op.Path+" "+AddressBlock(r.IP), perAddress)
	if d.Allowed {
		return nil
	}

	return &fault.Fault{
		Code:   fault.RateLimited,
		Detail: "Too many requests from this address. Wait as long as Retry-After says.", RetryAfter: d.RetryAfter(),
	}
}

// AddressBlock returns the unit that is rate limited: an IPv4 address, or the /64 of an IPv6 address, which one
// customer of a provider holds.
func AddressBlock(ip netip.Addr) string {
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

// ClientIP returns the peer's address. If the peer is a trusted proxy, it returns the last address of X-Forwarded-For
// that is not a trusted proxy: each proxy appends what it saw, so addresses further left may be forged.
func (s *Server) ClientIP(c *fiber.Ctx) netip.Addr {
	peer := peerOf(c)
	if !s.isTrustedProxy(peer) {
		return peer
	}

	var hops []string
	for _, line := range c.Request().Header.PeekAll("X-Forwarded-For") {
		hops = append(hops, strings.Split(string(line), ",")...)
	}

	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return peer
		}
		if peer = hop.Unmap().WithZone(""); !s.isTrustedProxy(peer) {
			return peer
		}
	}

	return peer
}

// peerOf returns the address of the connection's other end.
func peerOf(c *fiber.Ctx) netip.Addr {
	if tcp, ok := c.Context().RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

func (s *Server) isTrustedProxy(ip netip.Addr) bool {
	for _, p := range s.TrustedProxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
