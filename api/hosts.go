package api

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

// What the Host of a request decides:
//
//   - Hosted pages, which show an org's brand to its customers, ask tenant whose pages they are: the platform's own under
//     its own names, the org's under a custom domain that is served, and nobody's under any other name, which is a 421
//     without a redirect. So a name that somebody merely points at this service shows nothing, and after a domain has
//     gone from one org to another it shows the other's pages or none.
//   - What has a credential is answered by the credential, under any name: it is the same org's data wherever it is asked
//     for, and services are called by addresses, container names and those of load balancers. With one exception: under
//     a custom domain the credential must be of the org whose domain it is, of one of its clients, or of its staff. A
//     token that a browser kept from the time when the domain was another org's is a 421 there.
//
// The name is that of the request line and the Host header alone. X-Forwarded-Host is never read: anybody can send it,
// and a TLS server in front passes the Host on.

// tenant is the org whose pages the request's host shows: zero for the platform's own. Every hosted page asks it.
func (a *App) tenant(ctx context.Context) (id.ID, error) {
	if org, known := a.homeOf(requestOf(ctx).host); known {
		return org, nil
	}
	return id.ID{}, fault.New(fault.Misdirected, "Nothing is shown under this name.")
}

// homeOf is the org whose pages a host shows, zero for the platform's own; known is false for a host that shows none.
func (a *App) homeOf(host string) (org id.ID, known bool) {
	if a.Hosts != nil {
		if org, known = a.Hosts.Org(host); known {
			return org, true
		}
	}
	return id.ID{}, a.ownHost(host)
}

// ownHost takes the name of PublicURL and those below it, and what is no name of the public DNS: addresses, localhost, and
// names of one label, as containers have.
func (a *App) ownHost(host string) bool {
	if !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	u, err := url.Parse(a.PublicURL)
	if err != nil {
		return false
	}
	own := strings.ToLower(u.Hostname())
	return host == own || own != "" && strings.HasSuffix(host, "."+own)
}

// hostOf is the name that a request was sent to, in lower case, without port and without the dot at its end.
func hostOf(c *fiber.Ctx) string { return bareHost(string(c.Request().Host())) }

func bareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// atHome refuses a credential under the custom domain of an org that it has nothing to do with.
func (a *App) atHome(ctx context.Context, r *request) error {
	if a.Hosts == nil || r.who.Org.IsZero() {
		return nil
	}
	org, known := a.Hosts.Org(r.host)
	if !known || org == r.who.Org || org == r.who.Staff {
		return nil
	}
	var agency id.ID
	err := a.DB.Point(ctx, r.who.Org, `SELECT coalesce(parent_org_id, '00000000-0000-0000-0000-000000000000') FROM org WHERE id = $1`, []any{r.who.Org},
		func(row pgx.CollectableRow) error { return row.Scan(&agency) })
	if err != nil || agency == org {
		return err
	}
	return fault.New(fault.Misdirected, "This credential is of another organization than the one whose domain this is.")
}
