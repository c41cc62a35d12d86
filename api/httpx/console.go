package httpx

import (
	"context"
	"net"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// consoleHeader must be 1 in a request to an operation that honours the console's cookie. A page of another origin
// cannot send it without a preflight request, which is never allowed to.
const consoleHeader = "X-Funnelwork-Console"

const (
	schemeHTTP  = "http"
	schemeHTTPS = "https"
)

// fromConsole returns fault.Forbidden unless the request comes from a page of the host that it asks: the header
// consoleHeader is 1, and Origin is the host's own. The host must be one under which pages are shown.
func (s *Server) fromConsole(c *fiber.Ctx, r *Request) error {
	if c.Get(consoleHeader) != "1" {
		return fault.Newf(fault.Forbidden, "This is for the console: send %s: 1.", consoleHeader)
	}
	if !s.ownOrigin(c.Get(fiber.HeaderOrigin), string(c.Request().Host()), s.forwardedProto(c)) {
		return fault.New(fault.Forbidden, "This is for pages of this host: Origin must be the host that is asked.")
	}
	r.https = strings.HasPrefix(c.Get(fiber.HeaderOrigin), schemeHTTPS+":") || s.forwardedProto(c) == schemeHTTPS ||
		strings.HasPrefix(s.PublicURL, schemeHTTPS+":")
	_, err := s.Tenant(c.UserContext())
	return err
}

// HTTPS reports whether the browser uses https, for a request to an operation with Op.Console.
func HTTPS(ctx context.Context) bool { return RequestOf(ctx).https }

// ownOrigin reports whether origin is the origin of host, which is a Host header. proto is the scheme that a trusted
// proxy reports, or "". Where the scheme is known to be https, an origin with http is a different one.
func (s *Server) ownOrigin(origin, host, proto string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != schemeHTTP && u.Scheme != schemeHTTPS || u.Host == "" ||
		origin != u.Scheme+"://"+u.Host {
		return false
	}

	if u.Scheme == schemeHTTP {
		public, err := url.Parse(s.PublicURL)
		if proto == schemeHTTPS || err == nil && public.Scheme == schemeHTTPS &&
			withPort(public.Host, schemeHTTPS) == withPort(host, schemeHTTPS) {
			return false
		}
	}

	return withPort(u.Host, u.Scheme) == withPort(host, u.Scheme)
}

// withPort returns a host in lower case with its port, which is the scheme's if the host names none.
func withPort(host, scheme string) string {
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil {
		return net.JoinHostPort(name, port)
	}
	port := "80"
	if scheme == schemeHTTPS {
		port = "443"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// forwardedProto returns the scheme of the browser's request in lower case, as a trusted proxy reports it, or "".
func (s *Server) forwardedProto(c *fiber.Ctx) string {
	if !s.isTrustedProxy(peerOf(c)) {
		return ""
	}
	first, _, _ := strings.Cut(c.Get(fiber.HeaderXForwardedProto), ",")
	return strings.ToLower(strings.TrimSpace(first))
}
