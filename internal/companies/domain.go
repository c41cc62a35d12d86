package companies

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true),
	idna.Transitional(false))

// Domain returns the domain in what people give as one: a name, with or without www, or the URL of a page there. It is
// in lower case and ASCII, without a trailing dot. Domain returns false if s names no domain of at least two labels, or
// one under which anybody may register names (publicsuffix.org), such as co.uk.
func Domain(s string) (string, bool) {
	name, err := profile.ToASCII(hostIn(strings.TrimSpace(s)))
	if err != nil {
		return name, false
	}
	if rest, had := strings.CutPrefix(name, "www."); had && registrable(rest) {
		name = rest
	}
	return name, registrable(name)
}

// hostIn returns the host of a URL, whose scheme may be missing.
func hostIn(s string) string {
	for _, scheme := range []string{"http://", "https://", "//"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			s = s[len(scheme):]
			break
		}
	}
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		s = s[:end]
	}
	if host, port, had := strings.Cut(s, ":"); had && strings.Trim(port, "0123456789") == "" {
		s = host
	}
	return strings.TrimSuffix(s, ".")
}

// registrable reports whether a name in ASCII can be that of a company: at least two labels, of which the last is no
// number, and no public suffix.
func registrable(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || strings.Trim(name[dot+1:], "0123456789") == "" {
		return false
	}
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix != name
}
