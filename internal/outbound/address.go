package outbound

import (
	"net/netip"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
)

// Ranges that are never dialled, whatever is allowed: link-local with its metadata services, and the addresses
// of metadata services that lie elsewhere.
var never = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon's metadata by IPv6
	netip.MustParsePrefix("fd20:ce::/32"),       // Google's
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba's, inside CGNAT
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle's older one
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure's host agent, on a public address
}

// Ranges that a private install may allow.
var (
	private4 = []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	}
	private6 = []netip.Prefix{netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7")}
)

// guard decides about addresses. The list of special ranges is code.dny.dev/ssrf's, which follows IANA's
// registries: what is not global unicast, and what is special within it, CGNAT, NAT64, 6to4 and Teredo included.
type guard struct{ list *ssrf.Guardian }

func newGuard(allowPrivate bool) guard {
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithAnyNetwork()}
	if allowPrivate {
		options = append(options, ssrf.WithAllowedV4Prefixes(private4...), ssrf.WithAllowedV6Prefixes(private6...))
	}
	return guard{list: ssrf.New(options...)}
}

// allows tells whether a connection to a may be made. An address with a zone is of this host's own networks.
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

// Public tells of an address whether it is one of the public internet, for those who call by other means than a Client.
func Public() func(netip.Addr) bool { return newGuard(false).allows }

// literal reads host as an address in any spelling that some resolver takes: RFC 4291 with zone, and inet_aton's
// one to four parts, each decimal, octal or hexadecimal.
func literal(host string) (netip.Addr, bool) {
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
		n, ok := number(part)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			value += (n & 0xff) << (24 - 8*i)
			if n > 0xff {
				return netip.Addr{}, true // a number, but no address: refused as one
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

// number reads one part of inet_aton's notation. One that is too large is a number all the same.
func number(s string) (uint64, bool) {
	digits, base := s, 10
	switch {
	case len(s) > 1 && (s[:2] == "0x" || s[:2] == "0X"):
		digits, base = s[2:], 16
		if digits == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		digits, base = s[1:], 8
		if strings.ContainsAny(digits, "89") { // decimal to some resolvers, wrong to others
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
