package outbound

import (
	"fmt"
	"net/netip"
	"strings"
)

// CheckHost checks, without a DNS look-up, whether a server of this name may be connected to. The addresses that it
// resolves to are checked when dialling, by AllowedAddress.
func CheckHost(host string, allowPrivate bool) error {
	name := fold(host)
	if name == "" || strings.ContainsAny(name, " \t\r\n/@:%\\") && !strings.Contains(name, ":") {
		return fmt.Errorf("%w: it is not the name of a server", ErrMalformed)
	}
	if !allowPrivate && (name == "localhost" || strings.HasSuffix(name, ".localhost")) {
		return fmt.Errorf("%w: its host is not public", ErrNotAllowed)
	}
	if a, ok := literal(strings.Trim(name, "[]")); ok {
		if !newGuard(allowPrivate).allows(a) {
			return fmt.Errorf("%w: its host is not public", ErrNotAllowed)
		}
		return nil
	}
	if strings.ContainsAny(name, ":[]") {
		return fmt.Errorf("%w: it is not the name of a server", ErrMalformed)
	}
	return nil
}

// AllowedAddress returns a function that reports whether a connection to an address is allowed, for callers that do not
// use a Client. With allowPrivate, loopback and private networks are.
func AllowedAddress(allowPrivate bool) func(netip.Addr) bool { return newGuard(allowPrivate).allows }
