package oauth

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the method of X
	"encoding/base64"
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
)

// signedWithin is how far a timestamp may differ from the clock, in either direction. Nonces are stored for as long.
const signedWithin = 5 * time.Minute

// nonces holds the used nonces of a family with their expiry, in one row.
type nonces struct {
	Until map[string]time.Time `json:"until"`
}

// verifySignature verifies the signature of a request and returns the token that it names, or why it is refused. secret
// returns the secret of a token; it is nil if the request names none. The signed address is the provider's own, without
// Path. The timestamp is compared with the real clock, since signers do not follow advances of the sandbox's clock.
func (c *call) verifySignature(secret func(token string) (string, refusal)) (token string,
	why refusal,
) {
	given, ok := protocolParams(c.r.Header.Get("Authorization"))
	wantID, wantSecret := Client(c.d.family)
	if !ok || given["oauth_consumer_key"] != wantID || given["oauth_signature_method"] != "HMAC-SHA1" {
		return "", badClient
	}

	if version, named := given["oauth_version"]; named && version != "1.0" {
		return "", badClient
	}

	tokenSecret := ""
	token = given["oauth_token"]
	if secret != nil {
		if tokenSecret, why = secret(token); why != "" {
			return "", why
		}
	}

	mac := hmac.New(sha1.New, []byte(percentEncode(wantSecret)+"&"+percentEncode(tokenSecret)))
	fmt.Fprint(mac, c.signedText(given))
	sum, err := base64.StdEncoding.DecodeString(given["oauth_signature"])
	if err != nil || !hmac.Equal(sum, mac.Sum(nil)) {
		return "", badSigned
	}

	seconds, err := strconv.ParseInt(given["oauth_timestamp"], 10, 64)
	if off := c.tx.real.Sub(time.Unix(seconds, 0)); err != nil || off > signedWithin || off < -signedWithin {
		return "", badTime
	}

	if !c.tx.recordNonce(c.d.family, given["oauth_nonce"]) {
		return "", badSigned
	}

	for name, value := range given { // get returns protocol parameters too
		c.params[name] = value
	}

	return token, ""
}

// recordNonce records a nonce, and reports whether it is non-empty and was not used before.
func (t *tx) recordNonce(family, nonce string) bool {
	used := readRow[nonces](t, "nonces", family)
	if used == nil {
		used = &nonces{Until: map[string]time.Time{}}
	}

	for n, until := range used.Until {
		if t.real.After(until) {
			delete(used.Until, n)
		}
	}

	if _, known := used.Until[nonce]; known || nonce == "" {
		return false
	}

	used.Until[nonce] = t.real.Add(2 * signedWithin)
	writeRow(t, "nonces", family, used)

	return true
}

// protocolParams parses an Authorization header of the scheme OAuth. A duplicate parameter makes it invalid.
func protocolParams(header string) (params map[string]string, ok bool) {
	rest, ok := strings.CutPrefix(header, "OAuth ")
	if !ok {
		return nil, false
	}

	params = map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		plain, err := url.PathUnescape(strings.Trim(value, `"`))
		if _, twice := params[name]; !found || err != nil || twice {
			return nil, false
		}
		params[name] = plain
	}

	return params, true
}

// signedText returns the signature base string of RFC 5849, section 3.4.1.
func (c *call) signedText(given map[string]string) string {
	var lines []string
	line := func(name, value string) {
		lines = append(lines,
			percentEncode(name)+"="+percentEncode(value))
	}
	for name, value := range given {
		if name != "oauth_signature" && name != "realm" {
			line(name, value)
		}
	}

	for _, values := range []url.Values{c.r.URL.Query(), c.r.PostForm} {
		for name, each := range values {
			for _, value := range each {
				line(name, value)
			}
		}
	}

	sort.Slice(lines, func(i, j int) bool { // by name, then by value: "=" sorts after digits
		return strings.Replace(lines[i], "=", "\x00", 1) < strings.Replace(lines[j], "=", "\x00", 1)
	})
	address := "https://" + strings.TrimPrefix(c.r.URL.EscapedPath(), Path)

	return c.r.Method + "&" + percentEncode(address) + "&" + percentEncode(strings.Join(lines, "&"))
}

// percentEncode encodes a text as section 3.6 specifies.
func percentEncode(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
