package links

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// ASCII returns the address of a page as a header has it: the host as A-labels, everything else outside ASCII
// percent-encoded. An address that is ASCII already is returned as it is.
func ASCII(target string) string {
	if isPlain(target) {
		return target
	}
	u, err := url.Parse(target)
	if err != nil {
		return escapeRest(target)
	}
	host, port := u.Hostname(), u.Port()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil && !strings.Contains(host, ":") {
		if u.Host = ascii; port != "" {
			u.Host += ":" + port
		}
	}
	u.RawQuery = escapeRest(u.RawQuery)
	u.RawPath = escapeRest(u.RawPath)
	return escapeRest(u.String())
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// escapeRest percent-encodes what is not printable ASCII.
func escapeRest(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
