package httpx

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// How the Host of a request is used:
//
// Hosted pages, which show an org's brand to its customers, call tenant for the org of the host. The platform's own
// names show the platform's pages, and a custom domain that is served shows its org's pages. Any other name is a 421
// without a redirect. A name that merely points at this service therefore shows nothing. A domain that has moved to
// another org shows that org's pages or none.
//
// A request with a credential may use any name. The credential selects the org, and services are called by addresses,
// container names and names of load balancers. There is one exception: under a custom domain, the credential must
// belong to the domain's org, one of its clients, or its staff. A token which a browser kept from the time before the
// domain moved is a 421 there.
//
// Only the request line and the Host header name the host. X-Forwarded-Host is never read: any client can send it, and
// a TLS server in front passes the Host on.

// Tenant returns the org to which the request's host belongs, and the zero ID for the platform's own hosts. Every
// hosted page must call it.
func (s *Server) Tenant(ctx context.Context) (id.ID, error) {
	if org, known := s.HomeOf(RequestOf(ctx).host); known {
		return org, nil
	}
	return id.ID{}, fault.New(fault.Misdirected, "Nothing is shown under this name.")
}

// HomeOf returns the org to which a host belongs, zero for the platform's own hosts. known is false for any other host.
func (s *Server) HomeOf(host string) (org id.ID, known bool) {
	if s.Hosts != nil {
		if org, known = s.Hosts.Org(host); known {
			return org, true
		}
	}
	return id.ID{}, s.ownHost(host)
}

// siteOf returns the base of links for a reader at host: a custom domain stays in its brand, and every other host leads
// to PublicURL.
func (s *Server) siteOf(host string) string {
	if s.Hosts != nil {
		if _, served := s.Hosts.Org(host); served {
			return schemeHTTPS + "://" + host
		}
	}
	return s.PublicURL
}

// ownHost reports whether host belongs to the platform: the host of PublicURL and its subdomains, and any name outside
// the public DNS, which is an IP address, localhost, or a name with one label, as containers have.
func (s *Server) ownHost(host string) bool {
	if !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}

	u, err := url.Parse(s.PublicURL)
	if err != nil {
		return false
	}

	own := strings.ToLower(u.Hostname())
	return host == own || own != "" && strings.HasSuffix(host, "."+own)
}

// hostOf returns the host of the request in lower case, without port and trailing dot.
func hostOf(c *fiber.Ctx) string { return BareHost(string(c.Request().Host())) }

// BareHost returns a host in lower case, without port and trailing dot.
func BareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// atHome refuses a credential under the custom domain of an unrelated org.
func (s *Server) atHome(ctx context.Context, r *Request) error {
	if s.Hosts == nil || r.Who.Org.IsZero() {
		return nil
	}

	org, known := s.Hosts.Org(r.host)
	if !known || org == r.Who.Org || org == r.Who.Staff {
		return nil
	}

	var agency id.ID
	err := s.DB.BatchedGet(ctx, r.Who.Org,
		`SELECT coalesce(parent_org_id, '00000000-0000-0000-0000-000000000000') FROM org WHERE id = $1`,
		[]any{r.Who.Org},
		func(row pgx.CollectableRow) error { return row.Scan(&agency) })
	if err != nil || agency == org {
		return err
	}

	return fault.New(fault.Misdirected, "This credential belongs to another organization than this domain.")
}
