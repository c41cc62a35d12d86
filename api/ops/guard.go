package ops

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
)

// plainHeaders forbids framing and content sniffing.
func plainHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// withRequestID gives the log lines of a request its id and its trace id, as the API does.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := httpx.RequestID(r.Header.Get("X-Request-Id"))
		w.Header().Set("X-Request-Id", name)
		next.ServeHTTP(w, r.WithContext(httpx.WithIDs(r.Context(), name, r.Header.Get("traceparent"))))
	})
}

// guardOperators lets only operators through. It refuses requests without the password, if one is set. It also refuses
// requests from web pages of other origins in an operator's browser, which could otherwise pause a queue. It detects
// such a page by its Origin, or by the Host if the page's own name resolves to this address (DNS rebinding).
func (o *Listener) guardOperators(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.Password != "" && !o.isOperator(r) && !o.isLocalDelivery(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="funnelwork operations", charset="UTF-8"`)
			http.Error(w, "authentication required", http.StatusUnauthorized)
			return
		}

		// A page of another host cannot send the password, so with a password its reads have failed already.
		if isChange(r) || o.Password == "" {
			if !o.calledRight(r.Host) {
				http.Error(w, "unknown host name: list it in FUNNELWORK_OPS_HOSTS",
					http.StatusMisdirectedRequest)
				return
			}
		}
		if isChange(r) && !sameOrigin(r) {
			http.Error(w, "cross-origin requests may not change anything", http.StatusForbidden)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// isOperator checks user and password. It compares hashes, which have equal length, in constant time.
func (o *Listener) isOperator(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	want := sha256.Sum256([]byte(o.User + ":" + o.Password))
	got := sha256.Sum256([]byte(user + ":" + password))
	return ok && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// isLocalDelivery reports whether r is a delivery from this machine to a receiver.
func (o *Listener) isLocalDelivery(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && r.Method == http.MethodPost &&
		slices.ContainsFunc(o.Receivers, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) })
}

// calledRight reports whether host is localhost, an IP address, or a listed name. Other sites cannot own the first two.
func (o *Listener) calledRight(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}

	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}

	return name == "localhost" || slices.ContainsFunc(o.Hosts, func(h string) bool {
		return strings.EqualFold(h, name) || strings.EqualFold(h, host)
	})
}

// notJSON is the text of the answer to a request for which isJSON returns false.
const notJSON = "send a change as application/json"

// isJSON reports whether the body of r, if there is one, is declared as JSON. A page of another origin cannot send such
// a body, nor a method other than GET, HEAD and POST, before the browser has asked this listener, which does not allow
// it. A POST without a body and without a type is what asynqmon's page sends for a change without arguments.
func isJSON(r *http.Request) bool {
	declared := r.Header.Values("Content-Type")
	if len(declared) == 0 {
		return r.ContentLength == 0
	}
	kind, _, err := mime.ParseMediaType(declared[0])
	return err == nil && len(declared) == 1 && kind == "application/json"
}

// sameOrigin reports whether r comes from our own pages or from a program, which sends no origin.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}
