package contacts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEmail is the maximum length of a path without brackets in RFC 5321, in bytes.
const maxEmail = 254

// ValidEmail reports whether s is one bare address: a local part (dot-atom, at most 64 bytes), @, and a domain of at
// least two labels. Non-ASCII letters are allowed on both sides (RFC 6531). Quoted local parts, comments and address
// literals are not.
func ValidEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= maxEmail && utf8.ValidString(s) && validLocal(local) && validDomain(domain)
}

func validLocal(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}

	for _, r := range s {
		switch {
		case r >= utf8.RuneSelf:
			if !unicode.IsGraphic(r) || unicode.IsSpace(r) {
				return false
			}
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9',
			strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", r):
		default:
			return false
		}
	}

	return true
}

func validDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 {
		return false
	}

	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, r := range l {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}

	return strings.IndexFunc(labels[len(labels)-1], func(r rune) bool { return !unicode.IsDigit(r) }) >= 0
}
