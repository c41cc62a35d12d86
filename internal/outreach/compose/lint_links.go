package compose

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// shorteners are hosts that hide where a link leads, which is why filters distrust them.
var shorteners = []string{
	"bit.ly", "buff.ly", "cutt.ly", "goo.gl", "is.gd", "ow.ly", "rb.gy", "rebrand.ly", "shorturl.at", "t.co", "t.ly",
	"tiny.cc", "tinyurl.com",
}

// address matches a link's text that is a web address, with or without its scheme.
var address = regexp.MustCompile(`(?i)^(?:https?://)?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})(?:[:/?#]\S*)?$`)

// lintLink returns the code and the message of what readers and filters distrust in a link of the web; "" if nothing.
func lintLink(l Link) (code, message string) {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", ""
	}
	host := bare(u.Hostname())
	if shown := address.FindStringSubmatch(strings.TrimSpace(l.Text)); shown != nil && !related(bare(shown[1]), host) {
		return "link_differs", "The link shows " + shown[1] + " and leads to " + host + "; filters take that for fraud."
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return "link_numeric", "The link to " + host + " has a number for a host; filters distrust that."
	}
	if slices.Contains(shorteners, host) {
		return "link_shortened", "The link to " + host + " hides where it leads; use the address of the page itself."
	}
	if u.Scheme == "http" {
		return "link_unencrypted", "The link to " + host + " is not encrypted; use https."
	}
	return "", ""
}

// bare returns a host in lower case without www.
func bare(host string) string { return strings.TrimPrefix(strings.ToLower(host), "www.") }

// related reports whether one host is the other or below it.
func related(a, b string) bool {
	return a == b || strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a)
}

// shouts reports whether a subject is in capitals, or has several exclamation marks.
func shouts(subject string) bool {
	letters := 0
	for _, r := range subject {
		if unicode.IsLower(r) {
			letters = -len(subject)
		}
		if unicode.IsUpper(r) {
			letters++
		}
	}
	return letters >= 8 || strings.Count(subject, "!") > 1
}
