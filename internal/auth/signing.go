package auth

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// signingKey is one key of the ring.
type signingKey struct {
	kid     string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	useAt   time.Time // when it may begin to sign
}

// keyring is the result of one read of the keys, ordered by useAt.
type keyring struct {
	keys []signingKey
	at   time.Time
}

// errKid is the error for an unknown key id.
var errKid = errors.New("unknown key id")

// publicKey returns the key with id kid. An unknown kid triggers a new read, at most once a second per process: a key
// that another process just made is found, and a flood of invented ids costs nothing.
func (s *Service) publicKey(ctx context.Context, kid string, now time.Time) (ed25519.PublicKey, error) {
	ring, err := s.currentKeys(ctx, now, s.Reload)
	if err != nil {
		return nil, err
	}
	if key := ring.find(kid); key != nil {
		return key.public, nil
	}

	s.ringLock.Lock()
	defer s.ringLock.Unlock()

	if key := s.ring.Load().find(kid); key != nil {
		return key.public, nil
	}
	if now.Sub(s.asked) < time.Second {
		return nil, errKid
	}

	s.asked = now
	if ring, err = s.readKeys(ctx, now); err != nil {
		return nil, err
	}
	if key := ring.find(kid); key != nil {
		return key.public, nil
	}

	return nil, errKid
}

// signingKey returns the newest key that may sign.
func (s *Service) signingKey(ctx context.Context, now time.Time) (*signingKey, error) {
	ring, err := s.currentKeys(ctx, now, s.Reload)
	if err != nil {
		return nil, err
	}

	for i := len(ring.keys) - 1; i >= 0; i-- {
		if !ring.keys[i].useAt.After(now) {
			return &ring.keys[i], nil
		}
	}

	return &ring.keys[0], nil // the very first key, and our clock is behind the database's
}

// currentKeys returns the keys. They are at most age old if the database is available. One caller reads; concurrent
// callers use the keys at hand.
func (s *Service) currentKeys(ctx context.Context, now time.Time, age time.Duration) (*keyring, error) {
	ring := s.ring.Load()
	if ring != nil && now.Sub(ring.at) < age {
		return ring, nil
	}
	if ring != nil {
		if !s.ringLock.TryLock() {
			return ring, nil
		}
	} else {
		s.ringLock.Lock()
	}

	defer s.ringLock.Unlock()

	if again := s.ring.Load(); again != ring {
		return again, nil
	}

	fresh, err := s.readKeys(ctx, now)
	switch {
	case err == nil:
		return fresh, nil
	case ring == nil:
		return nil, err
	}

	s.Log.WarnContext(ctx, "read signing keys failed, using the cached ones", "error", err)
	s.ring.Store(&keyring{keys: ring.keys, at: now.Add(time.Second - s.Reload)}) // again in a second

	return ring, nil
}

// readKeys reads the keys from the database and makes the first key if there is none. It omits keys without any token
// that may still be valid. The caller must hold ringLock.
func (s *Service) readKeys(ctx context.Context, now time.Time) (*keyring, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	ring := &keyring{at: now}
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		ring.keys, err = s.listStoredKeys(ctx, tx)
		return err
	})
	if err == nil && len(ring.keys) == 0 {
		err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
			tx.Queue("SELECT pg_advisory_xact_lock(hashtext('funnelwork.signing_key'))")
			if ring.keys, err = s.listStoredKeys(ctx, tx); err != nil || len(ring.keys) > 0 {
				return err
			}
			if err = s.insertKey(tx, 0); err != nil {
				return err
			}

			ring.keys, err = s.listStoredKeys(ctx, tx)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}

	s.ring.Store(ring)

	return ring, nil
}

// retiredSQL selects retired keys: their successor has been signing for longer than a token lives, plus two minutes for
// processes with a late clock or read.
const retiredSQL = `EXISTS (SELECT 1 FROM signing_key n WHERE n.use_at > k.use_at
	AND n.use_at < now() - make_interval(secs => $1))`

var retireAfter = (accessLife + 2*time.Minute).Seconds()

func (s *Service) listStoredKeys(ctx context.Context, tx *postgres.Tx) ([]signingKey, error) {
	rows, err := tx.Query(ctx,
		`SELECT kid, public, private, use_at FROM signing_key k WHERE NOT `+retiredSQL+` ORDER BY use_at, kid`,
		retireAfter)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k signingKey, err error) {
		var public, sealed []byte
		if err = row.Scan(&k.kid, &public, &sealed, &k.useAt); err != nil {
			return k, err
		}

		seed, err := s.Box.Open(sealed, "signing_key/"+k.kid)
		if err != nil {
			return k, err
		}
		if len(seed) != ed25519.SeedSize || len(public) != ed25519.PublicKeySize {
			return k, fmt.Errorf("signing key %s is corrupt", k.kid)
		}

		k.public, k.private = public, ed25519.NewKeyFromSeed(seed)

		return k, nil
	})
}

// insertKey inserts a new key that signs after lead.
func (s *Service) insertKey(tx *postgres.Tx, lead time.Duration) error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}

	kid := id.New().String()
	sealed, err := s.Box.Seal(private.Seed(), "signing_key/"+kid)
	if err != nil {
		return err
	}

	tx.Queue(
		`INSERT INTO signing_key (kid, public, private, use_at) VALUES ($1, $2, $3, now() + make_interval(secs => $4))`,
		kid, []byte(public), sealed, lead.Seconds())

	return nil
}

// Rotate publishes a new signing key, which signs after Options.Lead, and deletes retired keys. The older keys stay
// valid until then and for as long as their tokens live, so no request fails.
func (s *Service) Rotate(ctx context.Context) error {
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("SELECT pg_advisory_xact_lock(hashtext('funnelwork.signing_key'))")
		tx.Queue(`DELETE FROM signing_key k WHERE `+retiredSQL, retireAfter)
		return s.insertKey(tx, s.Lead)
	})
	if err != nil {
		return fmt.Errorf("rotate signing keys: %w", err)
	}

	return nil
}

// JWK is a public key in the format of RFC 8037.
type JWK struct {
	KeyType   string `json:"kty" doc:"Key type (RFC 8037): OKP"`
	Curve     string `json:"crv" doc:"Curve of the key: Ed25519"`
	Use       string `json:"use" doc:"Use of the key: sig, signatures"`
	Algorithm string `json:"alg" doc:"Algorithm of the signatures: EdDSA"`
	KeyID     string `json:"kid" doc:"ID of the key, as in the header kid of a token"`
	X         string `json:"x" doc:"The public key, base64url without padding"`
}

// PublicKeys returns the keys that may sign tokens, now or soon. It includes a key made by Rotate within a second,
// whichever process made it.
func (s *Service) PublicKeys(ctx context.Context) ([]JWK, error) {
	ring, err := s.currentKeys(ctx, time.Now(), min(s.Reload, time.Second))
	if err != nil {
		return nil, err
	}

	set := make([]JWK, len(ring.keys))
	for i, k := range ring.keys {
		set[i] = JWK{
			KeyType: "OKP", Curve: "Ed25519", Use: "sig", Algorithm: algorithm, KeyID: k.kid,
			X: base64.RawURLEncoding.EncodeToString(k.public),
		}
	}

	return set, nil
}

func (r *keyring) find(kid string) *signingKey {
	for i := range r.keys {
		if r.keys[i].kid == kid {
			return &r.keys[i]
		}
	}
	return nil
}
