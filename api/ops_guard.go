package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// plainHeaders keeps the pages out of frames and their types unguessed.
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

// guarded lets operators through. Two strangers are kept out: who has no password, where one was set, and a
// web page that an operator has open, which could otherwise have the operator's browser pause a queue. The
// page gives itself away by its Origin; or, where it had its own name point at this address, by the Host.
func (o *Ops) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.Password != "" && !o.knows(r) && !o.delivers(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="funnelwork operations", charset="UTF-8"`)
			http.Error(w, "user and password, please", http.StatusUnauthorized)
			return
		}
		// A page under a name of its own has no password to send, so with one set its reads fail already.
		if changes(r) || o.Password == "" {
			if !o.calledRight(r.Host) {
				http.Error(w, "this listener is not called by that name: list it in FUNNELWORK_OPS_HOSTS", http.StatusMisdirectedRequest)
				return
			}
		}
		if changes(r) && !sameOrigin(r) {
			http.Error(w, "a page of another origin may change nothing here", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knows compares hashes, which have one length, in constant time.
func (o *Ops) knows(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	want, got := sha256.Sum256([]byte(o.User+":"+o.Password)), sha256.Sum256([]byte(user+":"+password))
	return ok && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// delivers tells whether r is a delivery from this machine to a receiver.
func (o *Ops) delivers(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && r.Method == http.MethodPost &&
		slices.ContainsFunc(o.Receivers, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) })
}

func changes(r *http.Request) bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method)
}

// calledRight takes localhost and address literals, which no other site can make its own, and listed names.
func (o *Ops) calledRight(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || slices.ContainsFunc(o.Hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) })
}

// sameOrigin takes calls of our own pages, and of programs, which say nothing of an origin.
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
