package oauth1

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Signer signs requests on behalf of one application and, if it has a token, one person. It is safe for concurrent use.
type Signer struct {
	Key, Secret        string // the application's consumer key and consumer secret
	Token, TokenSecret string // of a request token or an access token; "" for none
	Now                func() time.Time
	Nonce              func() string // nil: 130 random bits, in letters and digits
}

// Header returns the value of the Authorization header for one request, as section 3.5.1 specifies. Each call uses a
// new nonce, so a value is valid for one request. u is the address as the server knows it, with the query. form is the
// body if it is application/x-www-form-urlencoded, and nil otherwise. more are further protocol parameters, such as
// oauth_callback.
func (s Signer) Header(method string, u *url.URL, form url.Values, more ...Param) string {
	nonce := s.Nonce
	if nonce == nil {
		nonce = rand.Text
	}

	own := append([]Param{
		{"oauth_consumer_key", s.Key},
		{"oauth_nonce", nonce()},
		{"oauth_signature_method", "HMAC-SHA1"},
		{"oauth_timestamp", strconv.FormatInt(s.Now().Unix(), 10)},
		{"oauth_version", "1.0"},
	}, more...)
	if s.Token != "" {
		own = append(own, Param{"oauth_token", s.Token})
	}

	base := BaseString(method, u, slices.Concat(own, Params(form)))
	own = append(own, Param{"oauth_signature", Signature(base, s.Secret, s.TokenSecret)})
	slices.SortFunc(own, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	parts := make([]string, len(own))
	for i, p := range own {
		parts[i] = Escape(p.Name) + `="` + Escape(p.Value) + `"`
	}

	return "OAuth " + strings.Join(parts, ", ")
}
