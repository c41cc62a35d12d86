package mailboxes

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// InboundPath is the path that takes a mailbox's incoming mail; the token follows it.
const InboundPath = "/inbound/email/"

// newToken returns a token of an inbound address, which carries its org, and the hash that is stored.
func newToken(org id.ID) (token string, hash []byte) {
	random := make([]byte, 20)
	_, _ = rand.Read(random) // never fails
	token = base64.RawURLEncoding.EncodeToString(append(org[:], random...))
	sum := sha256.Sum256([]byte(token))
	return token, sum[:]
}

// RotateToken replaces the token of the mailbox's inbound address, and returns the new one, which is never shown again.
// The old address takes no mail any more.
func (s *Service) RotateToken(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (Versioned, string, error) {
	row, err := lock(ctx, tx, mailbox, nil)
	if err != nil {
		return Versioned{}, "", err
	}
	token, hash := newToken(tx.Org())
	tx.Queue(`UPDATE mailbox SET inbound_hash = $3, computed = computed + 1 WHERE org_id = $1 AND id = $2`, tx.Org(),
		mailbox, hash)
	row.Value.Computed++
	return versioned(&record.Row[stored]{Value: row.Value, Edit: row.Edit}), token, nil
}
