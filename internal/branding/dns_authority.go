package branding

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// Authority queries the authoritative name servers of a name's zone, which have no cache that could be stale or
// poisoned. Via finds them. The servers' addresses are chosen by the zone's owner, so Authority sends only its own
// queries, to one port, and Allow rejects internal addresses.
type Authority struct {
	Via   View
	Allow func(netip.Addr) bool // nil: all are allowed
	Port  string                // "": 53; set by tests
}

// Limits on the servers queried per zone.
const (
	maxServers   = 3
	maxAddresses = 4
)

// Ask implements View.
func (a Authority) Ask(ctx context.Context, name string, kind dnsmessage.Type) ([]dnsmessage.Resource, error) {
	servers, err := a.findServers(ctx, name)
	if err != nil {
		return nil, err
	}

	err = fmt.Errorf("no name server of the zone of %s responds", name)
	for range askRounds {
		for _, server := range servers {
			got, e := queryServer(ctx, server, question{name: name, kind: kind})
			if e == nil && !got.authoritative {
				// the zone is delegated to this server, but it is not configured there
				e = fmt.Errorf("%s is not authoritative for %s", server, name)
			}

			if e == nil {
				return got.answers, nil
			}

			if ctx.Err() != nil {
				return nil, ctx.Err()
			}

			err = e
		}
	}

	return nil, err
}

// findServers returns the addresses of the name servers of name's zone: of the nearest name that has NS records,
// starting with name itself and going up.
func (a Authority) findServers(ctx context.Context, name string) ([]string, error) {
	for zone := name; zone != ""; _, zone, _ = strings.Cut(zone, ".") {
		found, err := a.Via.Ask(ctx, zone, dnsmessage.TypeNS)
		if err != nil {
			return nil, err
		}

		var names []string
		for _, r := range found {
			if ns, ok := r.Body.(*dnsmessage.NSResource); ok && sameName(r.Header.Name.String(), zone) &&
				len(names) < maxServers {
				names = append(names, ns.NS.String())
			}
		}

		if len(names) > 0 {
			return a.lookupAddresses(ctx, names)
		}
	}

	return nil, errors.New("no parent zone has name servers")
}

func (a Authority) lookupAddresses(ctx context.Context, names []string) (out []string, err error) {
	port := a.Port
	if port == "" {
		port = "53"
	}

	err = errors.New("the zone's name servers have no allowed address")
	for _, name := range names {
		p, e := resolveAddresses(ctx, a.Via, strings.TrimSuffix(name, "."), "")
		if e != nil {
			err = e
			continue
		}

		for _, addr := range p.addrs {
			if len(out) < maxAddresses && (a.Allow == nil || a.Allow(addr)) {
				out = append(out, net.JoinHostPort(addr.String(), port))
			}
		}
	}

	if len(out) == 0 {
		return nil, err
	}

	return out, nil
}

// Views parses the resolvers in the settings: "system", "authority", or host:port with the default port 53. "authority"
// finds the zones' servers with the first of the other resolvers.
func Views(names []string, allow func(netip.Addr) bool) ([]View, error) {
	var views []View
	first := View(NameServers{})
	authority := false
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "system":
			views = append(views, NameServers{})
		case "authority":
			authority = true
			continue
		default:
			server, err := serverAddress(name)
			if err != nil {
				return nil, err
			}
			views = append(views, NameServers{Servers: []string{server}})
		}

		if len(views) == 1 {
			first = views[0]
		}
	}

	if authority {
		views = append(views, Authority{Via: first, Allow: allow})
	}

	if len(views) == 0 {
		return nil, errors.New("no resolver is configured")
	}

	return views, nil
}

func serverAddress(name string) (string, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return net.JoinHostPort(a.String(), "53"), nil
	}

	if a, err := netip.ParseAddrPort(name); err == nil {
		return a.String(), nil
	}

	return "", fmt.Errorf("resolver %q: want system, authority, or an address with or without a port", name)
}
