package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	unsaidRetry  = time.Minute    // if a provider throttles without stating a time
	longestRetry = 24 * time.Hour // upper bound of a stated time
)

// judge returns nil for a successful response and otherwise its error. It consults the dialect first, then the
// standards, then the status.
func (p *Provider) judge(r Reply, a ask) error {
	class, said := Class(""), ""
	if p.Dialect.Judge != nil {
		class, said = p.Dialect.Judge(r)
	}
	if class == "" {
		class, said = standardJudge(r)
	}
	if class == "" {
		return nil
	}
	if class == Unknown && !r.Op.spends() {
		class = Transient
	}
	if class == Stale && r.Op.spends() {
		class = Dead
	}
	shown := code(said, a.secrets(p.app.ClientSecret)...)
	e := &Error{Class: class, Platform: p.Platform, Code: shown, Status: r.Status}
	if class == Throttled || class == Transient {
		e.RetryAfter = retryAfter(r.Header, p.now())
	}
	if class == Throttled && e.RetryAfter == 0 {
		e.RetryAfter = unsaidRetry
	}
	return e
}

// standardJudge classifies a response by RFC 6749, section 5.2, RFC 7009, RFC 6750, section 3.1, and the HTTP status.
func standardJudge(r Reply) (Class, string) {
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(r.Body, &said)
	var name string
	_ = json.Unmarshal(said.Error, &name)
	if r.Status == http.StatusTooManyRequests {
		return Throttled, or(name, "429")
	}
	if r.Status >= 300 || name != "" {
		switch name {
		case "invalid_grant", "access_denied", "authorization_pending", "expired_token", "insufficient_scope":
			return Dead, name
		case "invalid_token":
			return Stale, name
		case "invalid_client", "unauthorized_client", "invalid_request", "invalid_scope", "unsupported_grant_type",
			"unsupported_token_type":
			return Misconfigured, name
		case "server_error", "temporarily_unavailable":
			return Transient, name
		case "slow_down":
			return Throttled, name
		}
	}
	status := strconv.Itoa(r.Status)
	switch {
	case r.Status < 300 && name == "":
		return "", ""
	case isFirewall(r):
		return Transient, status
	case r.Status == http.StatusBadGateway, r.Status == http.StatusGatewayTimeout, r.Status > 508:
		return Unknown, or(name, status) // a gateway does not know whether the request was carried out
	case r.Status >= 500, r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly:
		return Transient, or(name, status)
	case r.Status == http.StatusUnauthorized && !r.Op.spends():
		return Stale, or(name, status)
	case r.Status == http.StatusForbidden && !r.Op.spends():
		return Dead, or(name, status)
	case r.Status >= 400:
		return Misconfigured, or(name, status) // an unknown error must not disconnect a login
	case r.Status >= 300:
		return Transient, or(name, status)
	default: // status 200 with an unknown error
		return Unknown, name
	}
}

// isFirewall reports whether a response is the page of something between us and the provider, such as a firewall that
// takes one request for an attack: it says nothing of the application, nor of the login, whose token was not seen.
func isFirewall(r Reply) bool {
	switch r.Status {
	case http.StatusForbidden, http.StatusNotAcceptable, http.StatusProxyAuthRequired, http.StatusTeapot,
		http.StatusUnavailableForLegalReasons:
	case http.StatusUnauthorized:
		if !r.Op.spends() {
			return false
		}
	default:
		return false
	}
	body := bytes.TrimSpace(r.Body)
	return len(body) > 0 && !json.Valid(body)
}

// retryAfter parses Retry-After, in either form, and the reset times that X and others send; 0 for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	var d time.Duration
	said := h.Get("Retry-After")
	if n, err := strconv.ParseInt(said, 10, 32); err == nil {
		d = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(said); err == nil {
		d = at.Sub(now)
	} else if at, err := strconv.ParseInt(h.Get("X-Rate-Limit-Reset"), 10, 64); err == nil {
		d = time.Unix(at, 0).Sub(now)
	}
	return min(max(d, 0), longestRetry)
}

func or(name, status string) string {
	if name != "" {
		return name
	}
	return status
}

// has reports whether text contains one of the words, ignoring case.
func has(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
