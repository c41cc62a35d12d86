package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Class states what an error means for the holder of the token.
type Class string

// The classes. Only Dead ends a connection.
const (
	// Dead: the provider refuses this login for good; a person has to connect it again. From Exchange it means that the
	// code is spent or too old; the person has to start again.
	Dead Class = "dead"
	// Stale: an API refuses the access token. Refresh it and retry; if the fresh token is refused too, the login is
	// Dead. Only Login and Revoke return it.
	Stale Class = "stale"
	// Transient: certainly not carried out, for a temporary reason. Retry later.
	Transient Class = "transient"
	// Throttled: not carried out because of the provider's rate limit. Do not retry before RetryAfter, which is always
	// set.
	Throttled Class = "throttled"
	// Misconfigured: our client id, secret or request is wrong, or the application lacks a permission. Alert the
	// operator; disconnect no login.
	Misconfigured Class = "misconfigured"
	// Unknown: sent, but no usable response arrived. A single-use token may be spent. Only Exchange and Refresh return
	// it.
	Unknown Class = "unknown"
)

// Error is the failure of a request. It holds no token, no address and no text of the response.
type Error struct {
	Class    Class
	Platform string
	// Code is the provider's code, such as "190/460" or "invalid_grant", or ours if no response gave one: "timeout",
	// "connection", "not_json". It has at most 64 characters of [A-Za-z0-9_./:-].
	Code string
	// Status is the HTTP status; 0 if no response arrived.
	Status int
	// RetryAfter is set with Throttled, and with Transient if the provider stated it.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.Platform, e.Class, e.Code)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	return s
}

// ClassOf returns the class of the *Error in err's tree, "" if err is nil, and Unknown for any other error.
func ClassOf(err error) Class {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Class
	default:
		return Unknown
	}
}

// Errors that are detected without a request to a provider.
var (
	// ErrUnknownPlatform means that there is no such platform.
	ErrUnknownPlatform = errors.New("no such platform")
	// ErrUnconfigured means that no client id is configured for the platform.
	ErrUnconfigured = errors.New("no client id is configured for this platform")
	// ErrNoRevoke means that the provider has no way to revoke a token. Delete the token, and show the person where to
	// remove our application.
	ErrNoRevoke = errors.New("the provider does not support revocation")
	// ErrNoRefresh means that the token cannot be renewed; see CanRefresh.
	ErrNoRefresh = errors.New("this token cannot be renewed")
	// ErrDenied means that the person did not consent.
	ErrDenied = errors.New("the person did not consent")
)

// code sanitizes a provider's code for display: it restricts the characters and the length, and drops a code that is
// one of the request's secrets.
func code(s string, secrets ...Secret) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_./:-", r):
			return r
		default:
			return '_'
		}
	}, s)
	for _, secret := range secrets {
		if secret != "" && strings.Contains(s, code(secret.Reveal())) {
			return "withheld"
		}
	}
	if s == "" {
		return "none"
	}
	return s[:min(len(s), 64)]
}
