package secret

import (
	"encoding/binary"
	"time"
)

// Forget makes the next call check the file again.
func (s *Sealer) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = time.Time{}
}

// KeyOf returns the id of the key that sealed a ciphertext, read from its prefix, and false if sealed is not a
// ciphertext.
func KeyOf(sealed []byte) (uint32, bool) {
	if len(sealed) < 5 || sealed[0] != 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:5]), true
}
