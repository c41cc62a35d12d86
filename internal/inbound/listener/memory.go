package listener

import (
	"errors"
	"io"
	"net/netip"
	"sync"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// Limits of the memory of the mails that are being read, in bytes. A mail above one is refused for now. The mails of
// one address or network leave room for those of others.
const (
	maxMemory        = 256 << 20
	maxAddressMemory = maxMemory / 4 // of an IPv4 address, or an IPv6 /64
	maxNetworkMemory = maxMemory / 2 // of an IPv4 /24, or an IPv6 /48
)

// chunk is how many bytes of a mail are counted at once.
const chunk = 64 << 10

// memory counts the bytes of the mails that are being read.
type memory struct {
	mu  sync.Mutex
	all int
	of  map[netip.Prefix]int
}

// takeChunk counts a chunk of a client, and reports whether there is room for it. networks is its address and its
// network, or empty for a client without limits.
func (m *memory) takeChunk(networks []netip.Prefix) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all+chunk > maxMemory {
		return false
	}
	for i, most := range []int{maxAddressMemory, maxNetworkMemory} {
		if i < len(networks) && m.of[networks[i]]+chunk > most {
			return false
		}
	}
	if m.of == nil {
		m.of = map[netip.Prefix]int{}
	}
	m.all += chunk
	for _, n := range networks {
		m.of[n] += chunk
	}

	return true
}

// returnBytes gives bytes back that were taken.
func (m *memory) returnBytes(networks []netip.Prefix, taken int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all -= taken
	for _, n := range networks {
		if m.of[n] -= taken; m.of[n] == 0 {
			delete(m.of, n)
		}
	}
}

// readMail reads a mail of a client; a large one is reduced as it arrives. release must be called when the mail is no
// longer needed, also after an error.
func (s *Server) readMail(networks []netip.Prefix, r io.Reader) (raw []byte, release func(), err error) {
	in := &countedReader{server: s, networks: networks, from: r}
	release = func() { s.memory.returnBytes(networks, in.taken) }
	raw, err = parse.Receive(in)
	if errors.Is(err, parse.ErrTooLarge) {
		err = smtp.ErrDataTooLarge
	}
	return raw, release, err
}

// mostHeld is what a mail takes of the memory at most: what parse.Receive holds of one.
const mostHeld = parse.MaxBytes + chunk

// countedReader takes memory for a mail as it is read.
type countedReader struct {
	server   *Server
	networks []netip.Prefix
	from     io.Reader
	taken    int // bytes of memory
	read     int
}

// Read implements io.Reader.
func (c *countedReader) Read(p []byte) (int, error) {
	for c.read+len(p) > c.taken && c.taken < mostHeld {
		if !c.server.memory.takeChunk(c.networks) {
			c.server.Metrics.countRefused("memory")
			return 0, &smtp.SMTPError{
				Code: 452, EnhancedCode: smtp.EnhancedCode{4, 3, 1}, Message: "Too many mails at once, try again later",
			}
		}
		c.taken += chunk
	}
	n, err := c.from.Read(p)
	c.read += n
	return n, err
}
