package outbound

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

// CheckHost checks, without a DNS look-up, whether a server of this name may be connected to. The addresses that it
// resolves to are checked when dialling, by AllowedAddress.
func CheckHost(host string, allowPrivate bool) error {
	name := foldHost(host)
	if name == "" || strings.ContainsAny(name, " \t\r\n/@:%\\") && !strings.Contains(name, ":") {
		return fmt.Errorf("%w: it is not the name of a server", ErrMalformed)
	}
	if !allowPrivate && (name == "localhost" || strings.HasSuffix(name, ".localhost")) {
		return fmt.Errorf("%w: its host is not public", ErrNotAllowed)
	}
	if a, ok := parseLiteral(strings.Trim(name, "[]")); ok {
		if !newGuard(allowPrivate).allows(a) {
			return fmt.Errorf("%w: its host is not public", ErrNotAllowed)
		}
		return nil
	}
	if !possibleName(name) {
		return fmt.Errorf("%w: it is not the name of a server", ErrMalformed)
	}

	return nil
}

// names maps hosts to what is looked up. Names with an underscore exist.
var names = idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.VerifyDNSLength(true),
	idna.Transitional(false))

// possibleName reports whether DNS can have a name: labels of 1 to 63 letters, digits, hyphens and underscores, and not
// more than 253 bytes together (RFC 1035, section 2.3.4).
func possibleName(folded string) bool {
	ascii, err := names.ToASCII(folded)
	return err == nil && !strings.HasSuffix(ascii, ".") && !strings.ContainsFunc(ascii, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
}

// AllowedAddress returns a function that reports whether a connection to an address is allowed, for callers that do not
// use a Client. With allowPrivate, loopback and private networks are.
func AllowedAddress(allowPrivate bool) func(netip.Addr) bool { return newGuard(allowPrivate).allows }

// Dial connects by TCP to a server whose name was given by a user, within the timeout. The error wraps ErrNotAllowed if
// the address that the name resolves to is not allowed.
func Dial(ctx context.Context, timeout time.Duration, host string, port int, allowPrivate bool) (net.Conn, error) {
	allowed := AllowedAddress(allowPrivate)
	d := net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(a.Addr()) {
			return fmt.Errorf("%w: its host is not public", ErrNotAllowed)
		}
		return nil
	}}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}
