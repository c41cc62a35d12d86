package outbound

import (
	"net/netip"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
)

// Ranges that are never dialled, whatever the options allow: link-local addresses, which include metadata services, and
// the addresses of other metadata services.
var never = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon's metadata service over IPv6
	netip.MustParsePrefix("fd20:ce::/32"),       // Google's
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba's, inside CGNAT
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle's older one
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure's host agent, on a public address
}

// Ranges that a private install may allow.
var (
	private4 = []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	}
	private6 = []netip.Prefix{netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7")}
)

// guard decides which addresses may be dialled. The list of special ranges is that of code.dny.dev/ssrf, which follows
// IANA's registries: everything outside global unicast, and the special ranges within it, including CGNAT, NAT64, 6to4
// and Teredo.
type guard struct{ list *ssrf.Guardian }

func newGuard(allowPrivate bool) guard {
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithAnyNetwork()}
	if allowPrivate {
		options = append(options, ssrf.WithAllowedV4Prefixes(private4...), ssrf.WithAllowedV6Prefixes(private6...))
	}
	return guard{list: ssrf.New(options...)}
}

// allows reports whether a connection to a is allowed. An address with a zone belongs to this host's own networks.
func (g guard) allows(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap() // ::ffff:127.0.0.1 is dialled as 127.0.0.1
	for _, p := range never {
		if p.Contains(a) {
			return false
		}
	}
	return g.list.SafeAddr(a) == nil
}

// Public returns a function that reports whether an address belongs to the public internet, for callers that do not use
// a Client.
func Public() func(netip.Addr) bool { return newGuard(false).allows }

// parseLiteral parses host as an address in any spelling that some resolver accepts: RFC 4291 with zone, and
// inet_aton's one to four parts, each decimal, octal or hexadecimal.
func parseLiteral(host string) (netip.Addr, bool) {
	host = strings.TrimSuffix(host, ".")
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}

	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}

	var value uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			value += (n & 0xff) << (24 - 8*i)
			if n > 0xff {
				return netip.Addr{}, true // numeric but not an address: treated as one and refused
			}
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, true
		}
		value += n
	}

	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// parseNumber parses one part of inet_aton's notation. A part that is too large still counts as a number.
func parseNumber(s string) (uint64, bool) {
	digits := s
	base := 10
	switch {
	case len(s) > 1 && (s[:2] == "0x" || s[:2] == "0X"):
		digits = s[2:]
		base = 16
		if digits == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		digits = s[1:]
		base = 8
		if strings.ContainsAny(digits, "89") { // some resolvers read it as decimal, others reject it
			base = 10
		}
	}

	if digits == "" {
		return 0, false
	}

	for _, c := range digits {
		if base == 16 && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			continue
		}
		if c < '0' || c > '9' {
			return 0, false
		}
	}

	n, err := strconv.ParseUint(digits, base, 40)
	if err != nil {
		return 1 << 40, true
	}

	return n, true
}
