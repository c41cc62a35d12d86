package oauth1

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the method that X takes; see doc.go
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// Param is one parameter of a request, decoded. A name may occur several times.
type Param struct{ Name, Value string }

// BaseString returns the signature base string of section 3.4.1. params are the parameters of the Authorization header
// and of a form body; those of the query are read from u. "realm" and "oauth_signature" are left out.
func BaseString(method string, u *url.URL, params []Param) string {
	var pairs []Param
	add := func(p Param) { pairs = append(pairs, Param{Escape(p.Name), Escape(p.Value)}) }
	for _, p := range params {
		if p.Name != "realm" && p.Name != "oauth_signature" {
			add(p)
		}
	}

	for _, p := range Params(u.Query()) {
		add(p)
	}

	slices.SortFunc(pairs, func(a, b Param) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	joined := make([]string, len(pairs))
	for i, p := range pairs {
		joined[i] = p.Name + "=" + p.Value
	}

	return strings.ToUpper(method) + "&" + Escape(baseURI(u)) + "&" + Escape(strings.Join(joined, "&"))
}

// Params returns every value of a query or a form as a parameter, in unspecified order.
func Params(values url.Values) []Param {
	var all []Param
	for name, each := range values {
		for _, value := range each {
			all = append(all, Param{name, value})
		}
	}
	return all
}

// baseURI returns the base string URI of section 3.4.1.2: scheme and host in lower case, no default port, no query, no
// fragment.
func baseURI(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	host := strings.ToLower(u.Host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}

	return scheme + "://" + host + cmp.Or(u.EscapedPath(), "/")
}

// Signature returns the HMAC-SHA1 of a base string in base64, as section 3.4.2 specifies. tokenSecret is "" if there is
// no token.
func Signature(base, clientSecret, tokenSecret string) string {
	mac := hmac.New(sha1.New, []byte(Escape(clientSecret)+"&"+Escape(tokenSecret)))
	mac.Write([]byte(base))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

const upperHex = "0123456789ABCDEF"

// Escape percent-encodes every byte except letters, digits, "-", ".", "_" and "~", as section 3.6 specifies.
func Escape(s string) string {
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			out.WriteByte(c)
		default:
			out.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}

	return out.String()
}
