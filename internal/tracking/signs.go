package tracking

import (
	"net/netip"
	"strings"

	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

// signs are signs of a machine, as bits.
type signs int32

const (
	signHead     signs = 1 << iota // a HEAD request
	signAgent                      // the User-Agent of a scanner, a robot or a program; or none
	signProxy                      // a proxy of a mail provider, which loads pictures before or without the person
	signScanner                    // a network of a mail provider or a vendor of mail filters
	signTooSoon                    // within 2 s of the transmission
	signManyURLs                   // one network followed three links within 5 s
	signTrap                       // the network also followed the link that people do not see
	signTwoNets                    // another network followed the same link right after
)

var signNames = [...]struct {
	sign signs
	name string
}{
	{signHead, "head"},
	{signAgent, "agent"},
	{signProxy, "proxy"},
	{signScanner, "scanner_network"},
	{signTooSoon, "too_soon"},
	{signManyURLs, "many_links"},
	{signTrap, "hidden_link"},
	{signTwoNets, "two_networks"},
}

// names returns the signs as events show them.
func (s signs) names() []string {
	out := []string{}
	for _, n := range signNames {
		if s&n.sign != 0 {
			out = append(out, n.name)
		}
	}
	return out
}

// Visit is a request for an address in a mail.
type Visit struct {
	Head  bool // HEAD rather than GET
	Agent string
	IP    netip.Addr
}

// requestSigns returns what the request itself shows. Pictures are loaded by proxies; links are not.
func (v *Visit) requestSigns(link int16) (s signs) {
	if v.Head {
		s |= signHead
	}
	agent := strings.ToLower(v.Agent)
	if isProgram(agent) {
		s |= signAgent
	}
	isProxy := agent == appleAgent || containsAny(agent, proxyAgents) || isWithin(v.IP, proxyNetworks)
	if link == links.Pixel && isProxy {
		s |= signProxy
	}
	if isWithin(v.IP, scannerNetworks) {
		s |= signScanner
	}

	return s
}

// networkKey returns what counts as one network: a /24 of IPv4, a /48 of IPv6.
func (v *Visit) networkKey() string {
	bits := 24
	if v.IP.Is6() {
		bits = 48
	}
	p, err := v.IP.Prefix(bits)
	if err != nil {
		return ""
	}
	return p.String()
}

func isProgram(agent string) bool {
	return agent == "" || containsAny(agent, programs) || !strings.Contains(agent, "/")
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func isWithin(ip netip.Addr, networks []netip.Prefix) bool {
	for _, n := range networks {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}
