package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// keyPrefix makes API keys recognisable, to people and to scanners for leaked secrets.
const keyPrefix = "fw_"

// NewAPIKey generates a key of org. It returns the text to show once and the hash to store.
func NewAPIKey(org id.ID) (key string, hash []byte) { return newOpaque(keyPrefix, org) }

// verifyKey returns the principal of an API key. The key contains its org, so the row is read under that org's policy.
func (s *Service) verifyKey(ctx context.Context, key string, sum digest, now time.Time) (Who, error) {
	if at, ok := s.keys.Get(sum); ok {
		at.mu.Lock()
		defer at.mu.Unlock()

		if now.Sub(at.at) < roleLife {
			return at.who, at.err
		}

		began := time.Now()
		who, err := s.lookUpKey(ctx, at.who.Org, sum)
		if err != nil && !errors.Is(err, errToken) {
			return Who{}, err
		}
		if err == nil {
			at.who = who
		}

		at.at = began
		at.err = err
		return who, err
	}

	org, ok := orgOf(keyPrefix, key)
	if !ok {
		return Who{}, errToken
	}

	began := time.Now()
	who, err := s.lookUpKey(ctx, org, sum)
	if err != nil {
		return Who{}, err
	}

	s.keys.Put(sum, &roleCacheEntry{who: who, at: began})

	return who, nil
}

// lookUpKey reads a key's row and records its last use, to the minute. The key is valid, too, if the record cannot be
// written.
func (s *Service) lookUpKey(ctx context.Context, org id.ID, sum digest) (Who, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	records := !s.App.Writes().Failing()
	who, err := s.readKey(ctx, org, sum, records)
	if records && err != nil && !postgres.None(err) && ctx.Err() == nil {
		who, err = s.readKey(ctx, org, sum, false)
	}

	switch {
	case postgres.None(err):
		return Who{}, errToken
	case err != nil:
		return Who{}, fmt.Errorf("read api key: %w", err)
	}

	return who, nil
}

// readKey reads a key's row in one round trip. If record is set, it also writes the key's last use.
func (s *Service) readKey(ctx context.Context, org id.ID, sum digest, record bool) (Who, error) {
	who := Who{Org: org}
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		if record {
			tx.Queue(`UPDATE api_key SET last_used_at = now()
				WHERE org_id = $1 AND hash = $2 AND revoked_at IS NULL
				  AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`, org, sum[:])
		}

		return tx.QueryRow(ctx,
			`SELECT k.id, k.role, coalesce(o.rate_per_minute, 0), `+closedSQL+
				` FROM api_key k JOIN org o ON o.id = k.org_id
			WHERE k.org_id = $1 AND k.hash = $2 AND k.revoked_at IS NULL`,
			[]any{org, sum[:]}, &who.Key, &who.Role, &who.RatePerMinute, &who.Closed)
	})

	return who, err
}
