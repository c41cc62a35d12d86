package mailboxes

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// InboundPath is the path that takes a mailbox's incoming mail; the token follows it.
const InboundPath = "/inbound/email/"

// tokenBytes is the length of a token, of which the first 16 bytes are the org.
const tokenBytes = 16 + 20

// tokenEncoding returns the encoding of tokens: base32 in lower case, since servers fold the case of local parts.
func tokenEncoding() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

// newToken returns a token of an inbound address, which carries its org, and the hash that is stored.
func newToken(org id.ID) (token string, hash []byte) {
	random := make([]byte, tokenBytes-len(org))
	_, _ = rand.Read(random) // never fails
	token = tokenEncoding().EncodeToString(append(org[:], random...))
	return token, hashToken(token)
}

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// ParseToken returns the org of an inbound token and the hash that is stored of it, or false if it is no token. A token
// of base32 may be in either case. Tokens made before those are base64 and exact.
func ParseToken(token string) (org id.ID, hash []byte, ok bool) {
	lower := strings.ToLower(token)
	raw, err := tokenEncoding().DecodeString(lower)
	if err != nil || len(raw) != tokenBytes {
		lower = token
		raw, err = base64.RawURLEncoding.DecodeString(token)
	}
	if err != nil || len(raw) != tokenBytes {
		return id.ID{}, nil, false
	}

	copy(org[:], raw)
	return org, hashToken(lower), true
}

// RotateToken replaces the token of the mailbox's inbound address, and returns the new one, which is never shown again.
// The old address takes no mail any more.
func (s *Service) RotateToken(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (Versioned, string, error) {
	row, err := lockLive(ctx, tx, mailbox, nil)
	if err != nil {
		return Versioned{}, "", err
	}
	token, hash := newToken(tx.Org())
	tx.Queue(`UPDATE mailbox SET inbound_hash = $3, computed = computed + 1 WHERE org_id = $1 AND id = $2`, tx.Org(),
		mailbox, hash)
	row.Value.Computed++
	return versionedOf(&record.Row[stored]{Value: row.Value, Edit: row.Edit}), token, nil
}
