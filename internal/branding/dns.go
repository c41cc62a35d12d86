package branding

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// View is one source of DNS records: a resolver, or the authoritative name servers. It is safe for concurrent use.
type View interface {
	// Ask returns the records of the given type for a fully qualified name, and CNAMEs in place of or on the path to
	// them. It returns no records if there are none or the name does not exist. An error means that the query failed
	// and says nothing about the name.
	Ask(ctx context.Context, name string, kind dnsmessage.Type) ([]dnsmessage.Resource, error)
}

// lookTime is the timeout of one check by all views together. A view that does not respond in time yields Unknown.
const lookTime = 7 * time.Second

// CheckDNS queries all views concurrently for the records of d.
func (s *Domains) CheckDNS(ctx context.Context, d *Domain) DNSCheck {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	look := DNSCheck{At: time.Now().UTC().Truncate(time.Microsecond)}
	proofs := make([]sight, len(s.Views))
	routes := make([]sight, len(s.Views))
	var wait sync.WaitGroup
	for i, v := range s.Views {
		wait.Go(func() { proofs[i] = checkProof(ctx, v, d) })
		wait.Go(func() { routes[i] = checkRoute(ctx, v, d.Host, s.Target) })
	}

	wait.Wait()
	var proofSeen, routeSeen string
	look.Proof, proofSeen = combineViews(proofs)
	look.Route, routeSeen = combineViews(routes)
	look.Seen = routeSeen
	if look.Proof != Right {
		look.Seen = proofSeen
	}

	return look
}

// sight is the result of one view for one record.
type sight struct {
	finding Finding // Right, Missing, Wrong or Unknown
	seen    string
}

// combineViews combines the results of all views. Without any view, the result is Unknown.
func combineViews(sights []sight) (Finding, string) {
	count := map[Finding]int{}
	seen := ""
	for _, s := range sights {
		count[s.finding]++
		if s.finding == Wrong && seen == "" {
			seen = s.seen
		}
	}

	switch {
	case len(sights) == 0 || count[Unknown] > 0:
		return Unknown, ""
	case count[Right] == len(sights):
		return Right, ""
	case count[Right] > 0:
		return Split, seen
	case count[Wrong] > 0:
		return Wrong, seen
	default:
		return Missing, ""
	}
}

// checkProof looks for the claim's token. Other TXT records, including those of other claims, are ignored if the token
// is present.
func checkProof(ctx context.Context, v View, d *Domain) sight {
	found, err := followAliases(ctx, v, proofLabel+d.Host, dnsmessage.TypeTXT, nil)
	if err != nil {
		return sight{finding: Unknown}
	}

	out := sight{finding: Missing}
	for _, r := range found.records {
		txt, ok := r.Body.(*dnsmessage.TXTResource)
		if !ok {
			continue
		}

		// some DNS forms keep pasted quotes in the value
		text := strings.Trim(strings.TrimSpace(strings.Join(txt.TXT, "")), `"`)
		if text == proofPrefix+d.Token {
			return sight{finding: Right}
		}

		out = sight{Wrong, clipUntrusted(text)}
	}

	return out
}

// checkRoute checks that the host points to the target: by CNAME, or by addresses that all belong to the target,
// because a zone's apex cannot have a CNAME and providers flatten it to addresses.
func checkRoute(ctx context.Context, v View, host, target string) sight {
	found, err := resolveAddresses(ctx, v, host, target)
	switch {
	case err != nil:
		return sight{finding: Unknown}
	case found.reached:
		return sight{finding: Right}
	case len(found.addrs) == 0 && found.alias == "":
		return sight{finding: Missing}
	}

	wrong := sight{Wrong, found.alias}
	if wrong.seen == "" {
		wrong.seen = found.addrs[0].String()
	}

	if len(found.addrs) == 0 {
		return wrong
	}

	want, err := resolveAddresses(ctx, v, target, "")
	if err != nil {
		return sight{finding: Unknown}
	}

	for _, a := range found.addrs {
		if !slices.Contains(want.addrs, a) {
			return wrong
		}
	}

	return sight{finding: Right}
}

// place is the result of resolving a name.
type place struct {
	addrs   []netip.Addr
	alias   string // target of the first CNAME, without trailing dot
	reached bool   // the wanted name is in the chain; then addrs is empty
}

func resolveAddresses(ctx context.Context, v View, name, until string) (p place, err error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return place{addrs: []netip.Addr{a.Unmap()}}, nil
	}

	if name == "localhost" { // resolvers need not know it (RFC 6761)
		return place{addrs: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}}, nil
	}

	for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		found, err := followAliases(ctx, v, name, kind,
			func(alias string) bool { return until != "" && alias == until })
		if err != nil {
			return p, err
		}

		if p.alias == "" && len(found.aliases) > 0 {
			p.alias = found.aliases[0]
		}

		if found.stopped {
			p.reached = true
			return p, nil
		}

		for _, r := range found.records {
			switch b := r.Body.(type) {
			case *dnsmessage.AResource:
				p.addrs = append(p.addrs, netip.AddrFrom4(b.A))
			case *dnsmessage.AAAAResource:
				p.addrs = append(p.addrs, netip.AddrFrom16(b.AAAA).Unmap())
			}
		}
	}

	return p, nil
}

// resolved holds a name's records and the CNAMEs followed to them.
type resolved struct {
	records []dnsmessage.Resource
	aliases []string
	stopped bool // at an alias that stop accepted
}

// maxAliases is the maximum number of CNAMEs to follow; resolvers have similar limits.
const maxAliases = 8

var errAliases = errors.New("too many CNAMEs")

// followAliases follows CNAMEs. A resolver has already followed them; an authoritative server follows them only within
// its zone.
func followAliases(ctx context.Context, v View, name string, kind dnsmessage.Type,
	stop func(alias string) bool,
) (out resolved, err error) {
	name = fqdn(name)
	for range maxAliases {
		answers, err := v.Ask(ctx, name, kind)
		if err != nil {
			return out, err
		}

		on := name
		for range answers { // the answers may be in any order
			next := aliasOf(answers, on)
			if next == "" {
				break
			}

			on = next
			out.aliases = append(out.aliases, strings.TrimSuffix(next, "."))
			if stop != nil && stop(strings.TrimSuffix(next, ".")) {
				out.stopped = true
				return out, nil
			}
		}

		for _, r := range answers {
			if r.Header.Type == kind && sameName(r.Header.Name.String(), on) {
				out.records = append(out.records, r)
			}
		}

		if len(out.records) > 0 || on == name {
			return out, nil
		}

		name = on
	}

	return out, errAliases
}

// aliasOf returns the target of a name's CNAME among the answers, or "".
func aliasOf(answers []dnsmessage.Resource, name string) string {
	for _, r := range answers {
		if c, ok := r.Body.(*dnsmessage.CNAMEResource); ok && sameName(r.Header.Name.String(), name) {
			return strings.ToLower(c.CNAME.String())
		}
	}
	return ""
}

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

func fqdn(name string) string { return strings.TrimSuffix(name, ".") + "." }

// clipUntrusted makes untrusted text short and printable.
func clipUntrusted(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), 200)]
}
