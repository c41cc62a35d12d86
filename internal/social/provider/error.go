package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Class says what an error means to the one who holds the token.
type Class string

// The classes. Only Dead ends a connection.
const (
	// Dead: the provider refuses this login for good; a person has to connect it again. Of Exchange: the code is
	// spent or too old; the person has to start again.
	Dead Class = "dead"
	// Stale: an API refuses the access token. Refresh, then ask again; refused after a fresh one it is Dead.
	// Only Login and Revoke answer it.
	Stale Class = "stale"
	// Transient: certainly not done, for a reason that passes. Later.
	Transient Class = "transient"
	// Throttled: not done, since we ask too often. Not before RetryAfter, which is always set.
	Throttled Class = "throttled"
	// Misconfigured: our client id, secret or request is wrong, or the application lacks a right. Tell the operator,
	// disconnect nobody.
	Misconfigured Class = "misconfigured"
	// Unknown: sent, and no usable answer came. A token good for one use may be spent. Only Exchange and Refresh
	// answer it.
	Unknown Class = "unknown"
)

// Error is what became of a request that did not succeed. It holds no token, no address and no words of the answer.
type Error struct {
	Class    Class
	Platform string
	// Code is the provider's own, such as "190/460" or "invalid_grant", or ours for what no answer told: "timeout",
	// "connection", "not_json". At most 64 characters of [A-Za-z0-9_./:-].
	Code string
	// Status is HTTP's; 0 where no answer came.
	Status int
	// RetryAfter is set with Throttled, and with Transient where the provider said it.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.Platform, e.Class, e.Code)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	return s
}

// ClassOf is the class of an *Error anywhere in err; Unknown for anything else but nil, for which it is "".
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

// What a caller finds out without asking a provider.
var (
	// ErrUnknownPlatform: there is no such platform.
	ErrUnknownPlatform = errors.New("no such platform")
	// ErrUnsupported: the platform is known and not built: 501.
	ErrUnsupported = errors.New("this platform is not supported yet")
	// ErrUnconfigured: no client id is set for it.
	ErrUnconfigured = errors.New("no client id is set for this platform")
	// ErrNoRevoke: the provider has no way to revoke a token. Forget it, and tell the person where to remove us.
	ErrNoRevoke = errors.New("the provider cannot revoke")
	// ErrNoRefresh: this token cannot be renewed; see CanRefresh.
	ErrNoRefresh = errors.New("this token cannot be renewed")
	// ErrDenied: the person did not consent.
	ErrDenied = errors.New("the person did not consent")
)

// code makes a provider's code fit to be shown: its characters are few, its length bounded, and it is not one of
// the secrets of the request.
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
