package auth

import "crypto/sha256"

// digest is the SHA-256 of a credential. It is stored and compared instead of the credential.
type digest [sha256.Size]byte

// digestOf hashes a short credential without a heap allocation.
func digestOf(credential string) digest {
	var buf [maxBearer]byte
	if len(credential) <= len(buf) {
		return sha256.Sum256(buf[:copy(buf[:], credential)])
	}
	return sha256.Sum256([]byte(credential))
}
