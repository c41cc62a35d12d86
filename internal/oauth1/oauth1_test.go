package oauth1_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/oauth1"
)

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestTheExampleOfSection3411HasItsBaseString is RFC 5849's example, with a parameter that is sent twice. The signature
// printed in section 3.1 does not match it; that of erratum 2550 does.
func TestTheExampleOfSection3411HasItsBaseString(t *testing.T) {
	t.Parallel()
	form, err := url.ParseQuery("c2&a3=2+q")
	if err != nil {
		t.Fatal(err)
	}
	params := append([]oauth1.Param{
		{Name: "realm", Value: "Example"},
		{Name: "oauth_consumer_key", Value: "9djdj82h48djs9d2"},
		{Name: "oauth_token", Value: "kkk9d7dh3k39sjv7"},
		{Name: "oauth_signature_method", Value: "HMAC-SHA1"},
		{Name: "oauth_timestamp", Value: "137131201"},
		{Name: "oauth_nonce", Value: "7d8f3e4a"},
		{Name: "oauth_signature", Value: "djosJKDKJSD8743243/jdk33klY="},
	}, oauth1.Params(form)...)
	u := parsed(t, "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b")
	base := oauth1.BaseString("post", u, params)
	want := "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26" +
		"b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26" +
		"oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26" +
		"oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
	if base != want {
		t.Errorf("got  %s\nwant %s", base, want)
	}
	// The values of one name are sorted, whatever their order.
	swapped := append(slices.Clone(params[:7]), oauth1.Param{Name: "c2"}, oauth1.Param{Name: "a3", Value: "a"})
	u = parsed(t, "http://example.com/request?b5=%3D%253D&a3=2%20q&c%40=&a2=r%20b")
	if got := oauth1.BaseString("POST", u, swapped); got != want {
		t.Errorf("swapped\ngot  %s\nwant %s", got, want)
	}
	if got := oauth1.Signature(base, "j49sk3j29djd", "dh893hdasih9"); got != "r6/TJjbCOr97/+UU0NsvSne7s5g=" {
		t.Errorf("signature %s", got)
	}
}

// TestTheThreeRequestsOfSection12HaveTheirSignatures follows RFC 5849's example from the request token to the photo.
func TestTheThreeRequestsOfSection12HaveTheirSignatures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, address, tokenSecret, want string
		params                             map[string]string
	}{
		"temporary credentials": {
			"POST", "https://photos.example.net/initiate", "", "74KNZJeDHnMBp0EMJ9ZHt/XKycU=", map[string]string{
				"oauth_timestamp": "137131200", "oauth_nonce": "wIjqoS",
				"oauth_callback": "http://printer.example.com/ready",
			},
		},
		"token credentials": {
			"POST", "https://photos.example.net/token", "hdhd0244k9j7ao03", "gKgrFCywp7rO0OXSjdot/IHF7IU=",
			map[string]string{
				"oauth_timestamp": "137131201", "oauth_nonce": "walatlh", "oauth_token": "hh5s93j4hdidpola",
				"oauth_verifier": "hfdp7dh39dks9884",
			},
		},
		"the photo": {
			"GET", "http://photos.example.net/photos?file=vacation.jpg&size=original", "pfkkdhi9sl3r4s00",
			"MdpQcU8iPSUjWoN/UDMsK2sui9I=",
			map[string]string{
				"oauth_timestamp": "137131202", "oauth_nonce": "chapoH", "oauth_token": "nnch734d00sl2jdk",
			},
		},
	} {
		params := []oauth1.Param{
			{Name: "oauth_consumer_key", Value: "dpf43f3p2l4k3l03"},
			{Name: "oauth_signature_method", Value: "HMAC-SHA1"},
		}
		for key, value := range c.params {
			params = append(params, oauth1.Param{Name: key, Value: value})
		}
		base := oauth1.BaseString(c.method, parsed(t, c.address), params)
		if got := oauth1.Signature(base, "kd94hf93k423kf44", c.tokenSecret); got != c.want {
			t.Errorf("%s: %s of %s, want %s", name, got, base, c.want)
		}
	}
}

// TestTheHeaderIsTheOneOfXsDocumentation is the example of "Creating a signature" and "Authorizing a request": a query,
// a form with characters that are encoded twice, and each of the addresses that the page has used.
func TestTheHeaderIsTheOneOfXsDocumentation(t *testing.T) {
	t.Parallel()
	s := oauth1.Signer{
		Key:         "xvz1evFS4wEEPTGEFPHBog",
		Secret:      "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
		Token:       "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
		TokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
		Now:         func() time.Time { return time.Unix(1318622958, 0) },
		Nonce:       func() string { return "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg" },
	}
	form := url.Values{"status": {"Hello Ladies + Gentlemen, a signed OAuth request!"}}
	for address, signature := range map[string]string{
		"https://api.twitter.com/1/statuses/update.json?include_entities=true":   "tnnArxj06cWHq44gCs1OSKk%2FjLY%3D",
		"https://api.twitter.com/1.1/statuses/update.json?include_entities=true": "hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D",
		"https://api.x.com/1.1/statuses/update.json?include_entities=true":       "Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D",
	} {
		want := `OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", ` +
			`oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", ` +
			`oauth_signature="` + signature + `", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1318622958", ` +
			`oauth_token="370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb", oauth_version="1.0"`
		if got := s.Header("POST", parsed(t, address), form); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", address, got, want)
		}
	}
}

func TestEachHeaderHasANonceOfItsOwnAndNamesNoTokenThatThereIsNot(t *testing.T) {
	t.Parallel()
	s := oauth1.Signer{Key: "key", Secret: "secret", Now: time.Now}
	u := parsed(t, "https://api.x.com/oauth/request_token")
	one, two := s.Header("POST", u, nil), s.Header("POST", u, nil)
	if one == two {
		t.Errorf("twice %s", one)
	}
	if strings.Contains(one, "oauth_token=") || strings.Contains(one, "secret") {
		t.Errorf("header %s", one)
	}
	got := s.Header("POST", u, nil, oauth1.Param{Name: "oauth_callback", Value: "https://a.test/b?state=c&d=e"})
	if !strings.Contains(got, `oauth_callback="https%3A%2F%2Fa.test%2Fb%3Fstate%3Dc%26d%3De"`) {
		t.Errorf("header %s", got)
	}
}

func TestTheBaseAddressKeepsOtherPortsAndEncodedPaths(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://www.example.net:8080/?q=1":     "GET&https%3A%2F%2Fwww.example.net%3A8080%2F&q%3D1",
		"https://example.net:443":               "GET&https%3A%2F%2Fexample.net%2F&",
		"http://example.net:443/r%20v/X?id=123": "GET&http%3A%2F%2Fexample.net%3A443%2Fr%2520v%2FX&id%3D123",
	} {
		if got := oauth1.BaseString("GET", parsed(t, address), nil); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := oauth1.Escape("Ladies + Gentlemen-._~☃"); got != "Ladies%20%2B%20Gentlemen-._~%E2%98%83" {
		t.Errorf("escaped %s", got)
	}
}
