// Package framingtest provides badly framed requests for the tests of every listener.
package framingtest

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Refused returns requests that a listener must refuse, by code and name. Most consist of post, a request line and
// headers each with a line end, and a faulty rest. hidden is a complete request that must never get a response.
func Refused(post, hidden string) map[fault.Code]map[string]string {
	return map[fault.Code]map[string]string{
		fault.MalformedRequest: {
			"length, then chunked": post +
				"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"chunked, then length": post +
				"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + hidden,
			"length of nothing, and chunked": post +
				"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"blank before the colon of length": post + "Content-Length : 40\r\n\r\n" + hidden,
			"tab before the colon of length":   post + "Content-Length\t: 40\r\n\r\n" + hidden,
			"blank before the colon of coding": post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
			"blank in a name":                  post + "Content Length: 4\r\n\r\n" + hidden,
			"blank before the first name":      "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
			"no colon":                         post + "Content-Length 4\r\n\r\n" + hidden,
			"no name":                          post + ": 4\r\n\r\n" + hidden,
			"name with a NUL":                  post + "Content-Length\x00: 4\r\n\r\n" + hidden,
			"name above ASCII":                 post + "Content-Length\xa0: 4\r\n\r\n" + hidden,
			"name with a vertical tab":         post + "\x0bTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"identity":                         post + "Transfer-Encoding: identity\r\n\r\n" + hidden,
			"identity and length": post + "Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\n" +
				hidden,
			"two codings": post +
				"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"two codings, one unknown": post +
				"Transfer-Encoding: chunked\r\nTransfer-encoding: x\r\n\r\n0\r\n\r\n" + hidden,
			"a list of codings": post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + hidden,
			"chunked twice in a list": post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" +
				hidden,
			"chunked, identity": post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" +
				hidden,
			"xchunked":                      post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
			"chunked in quotes":             post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" + hidden,
			"chunked with a parameter":      post + "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" + hidden,
			"chunked behind a vertical tab": post + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + hidden,
			"no coding":                     post + "Transfer-Encoding:\r\n\r\n" + hidden,
			"a folded coding":               post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + hidden,
			"a coding behind a fold": post + "X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
				hidden,
			"a coding behind a bare LF": post + "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"a coding behind a bare CR": post + "X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"chunked on HTTP/1.0": "POST /two HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
				hidden,
			"chunked on HTTP/1.0 kept alive": "POST /two HTTP/1.0\r\nConnection: " +
				"keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
			"two lengths":                 post + "Content-Length: 4\r\nContent-Length: 40\r\n\r\n" + hidden,
			"two equal lengths":           post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd" + hidden,
			"a list of lengths":           post + "Content-Length: 4, 4\r\n\r\nabcd" + hidden,
			"a length with a sign":        post + "Content-Length: +4\r\n\r\nabcd" + hidden,
			"a negative length":           post + "Content-Length: -4\r\n\r\n" + hidden,
			"a length in hex":             post + "Content-Length: 0x4\r\n\r\nabcd" + hidden,
			"a length with a fraction":    post + "Content-Length: 4.0\r\n\r\nabcd" + hidden,
			"a length of letters":         post + "Content-Length: four\r\n\r\nabcd" + hidden,
			"no length":                   post + "Content-Length:\r\n\r\n" + hidden,
			"a length with a blank in it": post + "Content-Length: 4 0\r\n\r\nabcd" + hidden,
			"a length beyond 64 bits":     post + "Content-Length: 18446744073709551617\r\n\r\na" + hidden,
			"a length beyond 63 bits":     post + "Content-Length: 9223372036854775808\r\n\r\na" + hidden,
			"a length in other digits":    post + "Content-Length: ٤\r\n\r\nabcd" + hidden,
			"no host":                     "GET / HTTP/1.1\r\n\r\n" + hidden,
			"two hosts":                   "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + hidden,
			"two equal hosts":             "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n" + hidden,
			"two hosts on HTTP/1.0":       "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n" + hidden,
			"a host with a path":          "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n" + hidden,
			"a host with a user":          "GET / HTTP/1.1\r\nHost: a@x\r\n\r\n" + hidden,
			"two credentials": post + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n" +
				hidden,
			"a bare LF behind the request line":  "GET / HTTP/1.1\nHost: x\r\n\r\n" + hidden,
			"bare LFs":                           "GET / HTTP/1.1\nHost: x\n\n" + hidden,
			"a bare LF at the head's end":        "GET / HTTP/1.1\r\nHost: x\r\n\n" + hidden,
			"a bare LF behind a header":          "GET / HTTP/1.1\r\nHost: x\n\r\n" + hidden,
			"a bare CR in a value":               "GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n" + hidden,
			"bare CRs":                           "GET / HTTP/1.1\rHost: x\r\r" + hidden,
			"CR CR LF":                           "GET / HTTP/1.1\r\nHost: x\r\r\n\r\n" + hidden,
			"a folded line":                      "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n" + hidden,
			"a line folded by a tab":             "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n\tb\r\n\r\n" + hidden,
			"NUL in a value":                     "GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n" + hidden,
			"a control character in a value":     "GET / HTTP/1.1\r\nHost: x\r\nX: a\x01b\r\n\r\n" + hidden,
			"DEL in a value":                     "GET / HTTP/1.1\r\nHost: x\r\nX: a\x7fb\r\n\r\n" + hidden,
			"no method":                          " / HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a method that is no token":          "G(T / HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"no target":                          "GET  HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"no version":                         "GET /\r\nHost: x\r\n\r\n" + hidden,
			"HTTP/0.9":                           "GET /\r\n",
			"two blanks before the target":       "GET  / HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"two blanks before the version":      "GET /  HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a tab before the target":            "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a blank behind the version":         "GET / HTTP/1.1 \r\nHost: x\r\n\r\n" + hidden,
			"a target with a blank":              "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a target with a control character":  "GET /a\x01 HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a target without a slash":           "GET a HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a target of another scheme":         "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"an asterisk that is not for OPTION": "GET * HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"the target of a refusal":            "GET refused:request HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"CONNECT to the target of a refusal": "CONNECT refused:request HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a protocol in lower case":           "GET / http/1.1\r\nHost: x\r\n\r\n" + hidden,
			"another protocol":                   "GET / HTTPS/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a version of two digits":            "GET / HTTP/1.10\r\nHost: x\r\n\r\n" + hidden,
			"a version without a minor":          "GET / HTTP/1\r\nHost: x\r\n\r\n" + hidden,
			"two empty lines":                    "\r\n\r\n" + hidden,
			"an empty line of a bare LF":         "\n" + hidden,
			"a bare CR in front":                 "\r" + hidden,
			"TLS":                                "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
			"the head ends early":                "GET / HTTP/1.1\r\nHost: x\r\n",
			"an empty chunk size":                post + "Transfer-Encoding: chunked\r\n\r\n\r\n\r\n" + hidden,
			"a chunk size that is no number":     post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + hidden,
			"a chunk size with a sign": post + "Transfer-Encoding: chunked\r\n\r\n+4\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a negative chunk size": post + "Transfer-Encoding: chunked\r\n\r\n-4\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a chunk size in C's way": post + "Transfer-Encoding: chunked\r\n\r\n0x4\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a chunk size behind a blank": post + "Transfer-Encoding: chunked\r\n\r\n 4\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a chunk size before a blank": post + "Transfer-Encoding: chunked\r\n\r\n4 \r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a blank before an extension": post + "Transfer-Encoding: chunked\r\n\r\n4 ;a\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a chunk size with an underscore": post + "Transfer-Encoding: chunked\r\n\r\n0_4\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a chunk size beyond 64 bits": post +
				"Transfer-Encoding: chunked\r\n\r\n10000000000000004\r\nabcd\r\n0\r\n\r\n" + hidden,
			"a chunk size that ends with LF": post + "Transfer-Encoding: chunked\r\n\r\n4\nabcd\r\n0\r\n\r\n" + hidden,
			"a chunk size that ends with CR": post + "Transfer-Encoding: chunked\r\n\r\n4\rabcd\r\n0\r\n\r\n" + hidden,
			"a chunk without its end":        post + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd0\r\n\r\n" + hidden,
			"a chunk longer than its size": post + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcdef\r\n0\r\n\r\n" +
				hidden,
			"a chunk that ends with LF":      post + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\n0\r\n\r\n" + hidden,
			"a chunk that ends with CR":      post + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r0\r\n\r\n" + hidden,
			"a last chunk that ends with LF": post + "Transfer-Encoding: chunked\r\n\r\n0\n\n" + hidden,
			"a trailer that ends with LF":    post + "Transfer-Encoding: chunked\r\n\r\n0\r\n\n" + hidden,
			"an extension with a LF": post + "Transfer-Encoding: chunked\r\n\r\n4;a\nb\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"an extension with a CR": post + "Transfer-Encoding: chunked\r\n\r\n4;a\rb\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"an extension with a NUL": post + "Transfer-Encoding: chunked\r\n\r\n4;a\x00b\r\nabcd\r\n0\r\n\r\n" +
				hidden,
			"a long extension": post + "Transfer-Encoding: chunked\r\n\r\n4;" + strings.Repeat("a",
				1<<10) + "\r\nabcd\r\n0\r\n\r\n" + hidden,
			"a long extension of blanks": post + "Transfer-Encoding: chunked\r\n\r\n4" + strings.Repeat(" ",
				1<<11) + ";a\r\nabcd\r\n0\r\n\r\n" + hidden,
			"a trailer without a colon": post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX\r\n\r\n" + hidden,
			"a request for a trailer":   post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + hidden,
			"a trailer with a blank":    post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n" + hidden,
			"a folded trailer":          post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n z\r\n\r\n" + hidden,
			"a trailer with a NUL":      post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: \x00\r\n\r\n" + hidden,
			"a long trailer": post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n",
				3000) + "\r\n" + hidden,
			"data behind the body": post + "Content-Length: 2\r\n\r\n{}{}" + hidden,
			"a body behind a GET":  "GET / HTTP/1.1\r\nHost: x\r\n\r\n{}" + hidden,
		},
		fault.VersionUnsupported: {
			"HTTP/2 as it is spoken at once": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden,
			"HTTP/2.0":                       "GET / HTTP/2.0\r\nHost: x\r\n\r\n" + hidden,
			"HTTP/3.0":                       "GET / HTTP/3.0\r\nHost: x\r\n\r\n" + hidden,
			"HTTP/9.9":                       "GET / HTTP/9.9\r\nHost: x\r\n\r\n" + hidden,
			"HTTP/0.9, said":                 "GET / HTTP/0.9\r\nHost: x\r\n\r\n" + hidden,
		},
		fault.HeaderTooLarge: {
			"a long target": "GET /" + strings.Repeat("a", 20<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
			"a long header": "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a",
				20<<10) + "\r\n\r\n" + hidden,
			"many short headers": "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 4000) + "\r\n" + hidden,
		},
	}
}
