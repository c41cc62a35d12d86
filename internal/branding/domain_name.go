package branding

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// hostMax leaves room for the label of the TXT record: a name in the DNS has at most 253 characters.
const hostMax = 253 - len(proofLabel)

// reserved are names that the public DNS does not have (RFC 6761 and its kin). The examples and tests among them are
// allowed: nobody can prove those outside of a DNS of their own.
var reserved = []string{"localhost", "local", "internal", "onion", "invalid", "arpa", "alt", "lan", "home", "corp"}

var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true), idna.Transitional(false))

// Host reads a custom domain as somebody wrote it: lower case, punycode, without the dot that may end it. What cannot
// be one is a 422 at the field "domain": an address, a name of one label, a public suffix, a reserved name, one of the
// platform's own.
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
		return bad("invalid_domain", "This is no domain: want a name such as crm.example.com, without scheme, port and path.")
	}
	if isAddress(host) { // full-width digits become plain ones
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
	if s.own(host) {
		return bad("own_domain", "This name is the platform's own.")
	}
	return host, nil
}

// own tells whether host is the platform's, or below a name of its.
func (s *Domains) own(host string) bool {
	return slices.ContainsFunc(append([]string{s.Target}, s.Own...), func(o string) bool {
		return o != "" && (host == o || strings.HasSuffix(host, "."+o))
	})
}

// isAddress takes addresses in every spelling that some resolver takes, which in the dotted ones ends with a number:
// no name does (RFC 1123, 2.1).
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
