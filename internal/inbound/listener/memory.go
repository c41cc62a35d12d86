package listener

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"sync"

	"github.com/emersion/go-smtp"
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

// readMail reads a mail of a client whole. release must be called when the mail is no longer needed, also after an
// error.
func (s *Server) readMail(networks []netip.Prefix, r io.Reader) (raw []byte, release func(), err error) {
	var (
		out   bytes.Buffer
		taken int
	)
	release = func() { s.memory.returnBytes(networks, taken) }
	for {
		if !s.memory.takeChunk(networks) {
			s.Metrics.countRefused("memory")
			return nil, release, &smtp.SMTPError{
				Code: 452, EnhancedCode: smtp.EnhancedCode{4, 3, 1}, Message: "Too many mails at once, try again later",
			}
		}
		taken += chunk
		n, err := io.CopyN(&out, r, chunk)
		switch {
		case errors.Is(err, io.EOF):
			return out.Bytes(), release, nil
		case err != nil:
			return nil, release, err
		case n < chunk:
			return out.Bytes(), release, nil
		}
	}
}
