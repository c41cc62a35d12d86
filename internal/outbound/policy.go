package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The two reasons to refuse a URL. Their texts, and those of errors that wrap them, may be shown to the org.
var (
	ErrMalformed  = errors.New("not a usable URL")
	ErrNotAllowed = errors.New("this URL is not allowed")
)

// maxURL is the longest URL that is accepted, in bytes.
const maxURL = 2048

// Policy defines which URLs may be called. The zero Policy allows only https to public addresses.
type Policy struct {
	// AllowPrivate adds http, loopback and private networks. Link-local addresses and metadata services stay forbidden.
	AllowPrivate bool
	// Inbox is the base URL of the sandbox's webhook inbox, ending in a slash, or "". URLs one path segment below it
	// are allowed although they are http and loopback; no other URL on that host is.
	Inbox string
}

// Check parses a URL and checks, without a DNS look-up, whether it may be stored and called. The address that its host
// resolves to is checked when dialling.
func (p Policy) Check(raw string) (*url.URL, error) {
	u, err := p.parseURL(raw)
	if err != nil {
		return nil, err
	}
	if p.IsInbox(raw) {
		return u, nil
	}
	if u.Scheme == "http" && !p.AllowPrivate {
		return nil, fmt.Errorf("%w: it must begin with https://", ErrNotAllowed)
	}

	host := foldHost(u.Hostname())
	if !p.AllowPrivate && (host == "localhost" || strings.HasSuffix(host, ".localhost")) {
		return nil, fmt.Errorf("%w: its host is not public", ErrNotAllowed)
	}
	a, ok := parseLiteral(host)
	switch {
	case ok && !newGuard(p.AllowPrivate).allows(a):
		return nil, fmt.Errorf("%w: its host is not public", ErrNotAllowed)
	case !ok && !possibleName(host):
		return nil, fmt.Errorf("%w: there can be no such host", ErrMalformed)
	}

	return u, nil
}

// IsInbox reports whether raw is a URL of the sandbox's inbox.
func (p Policy) IsInbox(raw string) bool {
	name, ok := strings.CutPrefix(raw, p.Inbox)
	if p.Inbox == "" || !ok || name == "" || len(name) > 64 {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

// inboxAddr returns the inbox's host and port in the form that the dialler receives, or "".
func (p Policy) inboxAddr() string {
	u, err := url.Parse(p.Inbox)
	if p.Inbox == "" || err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (p Policy) parseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrMalformed, maxURL)
	}
	if strings.ContainsFunc(raw, func(c rune) bool {
		return c <= ' ' || c == 0x7f || c == '\\' || unicode.IsSpace(c) || unicode.IsControl(c)
	}) {
		return nil, fmt.Errorf("%w: it has spaces, backslashes or control characters", ErrMalformed)
	}

	u, err := url.Parse(raw)
	switch {
	case err != nil: // for example an address with a bare zone, or an escaped host
		return nil, fmt.Errorf("%w: it cannot be parsed", ErrNotAllowed)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%w: it must begin with https://", ErrNotAllowed)
	case u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: it has no host", ErrMalformed)
	case u.User != nil:
		return nil, fmt.Errorf("%w: it contains a user name or password", ErrNotAllowed)
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return nil, fmt.Errorf("%w: it has a fragment", ErrMalformed)
	case strings.HasSuffix(u.Host, ":") || u.Port() == "0" || u.Port() != "" && !validPort(u.Port()):
		return nil, fmt.Errorf("%w: its port is invalid", ErrMalformed)
	}

	if strings.ContainsFunc(u.Hostname(), func(c rune) bool {
		return c > unicode.MaxASCII && !unicode.In(c, unicode.L, unicode.M, unicode.N) &&
			!strings.ContainsRune("。．｡", c)
	}) {
		return nil, fmt.Errorf("%w: its host contains invalid characters", ErrNotAllowed)
	}

	return u, nil
}

func validPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}

// foldHost normalizes a host to the form that resolvers compare: full-width and circled digits, other full stops and
// capitals are spellings of the same name.
func foldHost(host string) string {
	host = strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(host)
	return strings.TrimSuffix(strings.ToLower(norm.NFKC.String(host)), ".")
}
