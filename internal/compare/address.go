package compare

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// domains maps a domain as browsers and mail programs look it up. Underscores and other characters that no host name
// has are let through, since what is compared need not be valid.
var domains = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
	idna.CheckHyphens(false))

// Address returns the form in which email addresses are compared: the local part as a text, the domain in ASCII. A text
// without @ is compared as a text.
func Address(s string) string {
	folded, _ := SplitAddress(s)
	return folded
}

// SplitAddress returns the form of an address, and that of its domain. The domain of a text without @ is the whole
// text.
func SplitAddress(s string) (address, domain string) {
	at := strings.LastIndexByte(s, '@')
	domain = Domain(s[at+1:])
	if at < 0 {
		return Text(s), domain
	}
	return Text(s[:at]) + "@" + domain, domain
}

// Domain returns the form in which domains are compared: ASCII, without the dot of the root. A name that the DNS cannot
// have is compared as a text.
func Domain(s string) string {
	s = strings.TrimRight(visible(s), ". ")
	for _, spelling := range []string{s, Text(s)} { // the mapping folds case itself: the DNS distinguishes ß from ss
		if ascii, err := domains.ToASCII(spelling); err == nil && ascii != "" && plain(ascii) {
			return strings.TrimRight(ascii, ".")
		}
	}
	return Text(s)
}

// AddressPart returns the form of a part of an address, for conditions such as "starts with" and "contains". A part
// with a domain, as in @bücher.example, is compared with the labels of the domain in ASCII.
func AddressPart(s string) string {
	at := strings.LastIndexByte(s, '@')
	switch {
	case at >= 0:
		return Text(s[:at]) + "@" + labels(s[at+1:])
	case strings.Contains(s, "."):
		return labels(s)
	}
	return Text(s)
}

// labels returns the ASCII form of each label of s, of which the last may be the beginning of one.
func labels(s string) string {
	all := strings.Split(visible(s), ".")
	for i, label := range all {
		if ascii, err := domains.ToASCII(label); err == nil && plain(ascii) {
			all[i] = ascii
		} else {
			all[i] = Text(label)
		}
	}
	return strings.Join(all, ".")
}

// visible returns s in NFC without invisible characters, blanks at its ends and runs of blanks.
func visible(s string) string {
	if plain(s) {
		return s
	}
	return norm.NFC.String(collapse(strings.Map(dropInvisible, s)))
}
