package branding

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// hostMax leaves room for the label of the TXT record: a DNS name has at most 253 characters.
const hostMax = 253 - len(proofLabel)

// reserved lists names that do not exist in the public DNS (RFC 6761 and related). Its example and test names are
// allowed, because they can be proven only in a private DNS.
var reserved = []string{"localhost", "local", "internal", "onion", "invalid", "arpa", "alt", "lan", "home", "corp"}

var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true),
	idna.Transitional(false))

// Host normalizes a custom domain given by a caller: lower case, punycode, without a trailing dot. It returns a 422
// fault at the field "domain" for an IP address, a single label, a public suffix, a reserved name, or one of the
// platform's own names.
func (s *Domains) Host(given string) (string, error) {
	bad := func(code, detail string) (string, error) { return "", fault.Invalid("domain", code, detail) }
	text := strings.TrimSpace(given)
	if strings.Trim(text, ".") == "" {
		return bad("required", "A domain is needed, such as crm.example.com.")
	}

	if isAddress(text) {
		return bad("ip_address", "This is an address. A domain has a name, such as crm.example.com.")
	}

	host, err := profile.ToASCII(text)
	host = strings.TrimSuffix(host, ".")
	if err != nil || strings.HasPrefix(text, "*") || strings.HasSuffix(host, ".") || !strings.Contains(host, ".") {
		return bad("invalid_domain",
			"This is no domain: want a name such as crm.example.com, without scheme, port and path.")
	}

	if isAddress(host) { // full-width digits are normalized before this check
		return bad("ip_address", "This is an address. A domain has a name, such as crm.example.com.")
	}

	if len(host) > hostMax {
		return bad("too_long", "A domain has at most 241 characters here.")
	}

	labels := strings.Split(host, ".")
	if last := labels[len(labels)-1]; slices.Contains(reserved, last) {
		return bad("reserved_domain", "This name does not exist in the public DNS.")
	}

	if _, err := publicsuffix.EffectiveTLDPlusOne(host); err != nil {
		return bad("public_suffix", "Everybody registers below this name; it cannot be one organization's.")
	}

	if s.isOwnHost(host) {
		return bad("own_domain", "This name is the platform's own.")
	}

	return host, nil
}

// isOwnHost reports whether host is one of the platform's names or a subdomain of one.
func (s *Domains) isOwnHost(host string) bool {
	return slices.ContainsFunc(append([]string{s.Target}, s.Own...), func(o string) bool {
		return o != "" && (host == o || strings.HasSuffix(host, "."+o))
	})
}

// isAddress reports whether text is an IP address in any spelling that some resolver accepts. Dotted spellings end with
// a number, which no host name does (RFC 1123, 2.1).
func isAddress(text string) bool {
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return true
	}

	last := text[strings.LastIndexByte(text, '.')+1:]
	digits := strings.TrimPrefix(strings.ToLower(last), "0x")
	if digits == "" {
		return last != ""
	}

	base := "0123456789"
	if digits != strings.ToLower(last) {
		base += "abcdef"
	}

	return strings.Trim(digits, base) == ""
}
