// Package links makes the addresses that stand in tracked emails for their links, and the pixel.
package links

import (
	"encoding/binary"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
)

// Paths of the addresses in mails, with a token behind them.
const (
	OpenPath  = "/t/o/"
	ClickPath = "/t/c/"
)

// purpose of the tokens. Pixels and links differ by the number.
const purpose = "link.tracking"

// Numbers of addresses that are none of the mail's own links, which count from 1.
const (
	Pixel = -1
	Trap  = 0 // people do not see it, so only a machine follows it
)

// Ref is what a token stands for.
type Ref struct {
	Org, Email id.ID
	Link       int16
}

const (
	idBytes  = len(id.ID{})
	refBytes = 2*idBytes + 2
)

func (r Ref) bytes() []byte {
	b := make([]byte, 0, refBytes)
	b = append(b, r.Org[:]...)
	b = append(b, r.Email[:]...)
	return binary.BigEndian.AppendUint16(b, uint16(r.Link))
}

// Token returns the token of r. key is the key of r.Org.
func (r Ref) Token(key orgkey.Key) string { return key.Token(purpose, r.bytes()) }

// Issued reports whether token was issued for r. key is the key of r.Org.
func (r Ref) Issued(key orgkey.Key, token string) bool { return key.Issued(purpose, r.bytes(), token) }

// Parse returns what a token names, which Issued must confirm. It returns false for a text that is no token.
func Parse(token string) (r Ref, ok bool) {
	b, ok := orgkey.Payload(token, refBytes)
	if !ok {
		return Ref{}, false
	}
	copy(r.Org[:], b)
	copy(r.Email[:], b[idBytes:])
	r.Link = int16(binary.BigEndian.Uint16(b[2*idBytes:]))
	return r, true
}
