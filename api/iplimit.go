package api

import (
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// perAddress is what one address may ask of each route that needs no credential: 300 requests a minute, 600 in
// 30 s. It keeps one host from using up the service; what guards passwords and mail addresses is in auth.
var perAddress = limits.PerMinute(300)

// limitAddress counts a request without a credential against the address that it comes from.
func (a *App) limitAddress(c *fiber.Ctx, r *request) error {
	if a.Limits == nil {
		return nil
	}
	d := a.Limits.Take(c.UserContext(), "ip "+r.op.Path+" "+block(r.ip), perAddress)
	if d.Allowed {
		return nil
	}
	return &fault.Fault{Code: fault.RateLimited, Detail: "Too many requests from this address. Wait as long as Retry-After says.", RetryAfter: d.RetryAfter()}
}

// block is what one customer of a provider holds: an IPv4 address, or the /64 of an IPv6 one.
func block(ip netip.Addr) string {
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

// clientIP is the peer, or, where the peer is a trusted proxy, the last address of X-Forwarded-For that is
// not one. Each proxy appends what it saw, so nothing to the left of that can be believed.
func (a *App) clientIP(c *fiber.Ctx) netip.Addr {
	peer := netip.Addr{}
	if tcp, ok := c.Context().RemoteAddr().(*net.TCPAddr); ok {
		peer = tcp.AddrPort().Addr().Unmap()
	}
	if !a.trusts(peer) {
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
		if peer = hop.Unmap().WithZone(""); !a.trusts(peer) {
			return peer
		}
	}
	return peer
}

func (a *App) trusts(ip netip.Addr) bool {
	for _, p := range a.TrustedProxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
