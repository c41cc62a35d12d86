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
	useAt   time.Time // from here on it may sign
}

// keyring is what one reading of the keys gave, in the order of useAt.
type keyring struct {
	keys []signingKey
	at   time.Time
}

// errKid is a key id that is not ours.
var errKid = errors.New("unknown key id")

// public answers the key of a kid. An unknown one leads to a new reading, at most once a second for the whole
// process: a key that another process just made is found, and a flood of invented ids costs nothing.
func (s *Service) public(ctx context.Context, kid string, now time.Time) (ed25519.PublicKey, error) {
	ring, err := s.current(ctx, now, s.Reload)
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
	if ring, err = s.read(ctx, now); err != nil {
		return nil, err
	}
	if key := ring.find(kid); key != nil {
		return key.public, nil
	}
	return nil, errKid
}

// signer is the newest key that may sign.
func (s *Service) signer(ctx context.Context, now time.Time) (*signingKey, error) {
	ring, err := s.current(ctx, now, s.Reload)
	if err != nil {
		return nil, err
	}
	for i := len(ring.keys) - 1; i >= 0; i-- {
		if !ring.keys[i].useAt.After(now) {
			return &ring.keys[i], nil
		}
	}
	return &ring.keys[0], nil // the very first one, and our clock behind the database's
}

// current answers the keys, read at most age ago where the database allows. One caller reads, the others go on
// with what there is.
func (s *Service) current(ctx context.Context, now time.Time, age time.Duration) (*keyring, error) {
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
	fresh, err := s.read(ctx, now)
	switch {
	case err == nil:
		return fresh, nil
	case ring == nil:
		return nil, err
	}
	s.Log.WarnContext(ctx, "signing keys not read, going on with the known ones", "error", err)
	s.ring.Store(&keyring{keys: ring.keys, at: now.Add(time.Second - s.Reload)}) // again in a second
	return ring, nil
}

// read takes the ring from the database, making the first key where there is none. Keys that signed nothing
// that may still be valid are left out. The caller holds ringLock.
func (s *Service) read(ctx context.Context, now time.Time) (*keyring, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	ring := &keyring{at: now}
	err := s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		ring.keys, err = s.stored(ctx, tx)
		return err
	})
	if err == nil && len(ring.keys) == 0 {
		err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
			tx.Queue("SELECT pg_advisory_xact_lock(hashtext('funnelwork.signing_key'))")
			if ring.keys, err = s.stored(ctx, tx); err != nil || len(ring.keys) > 0 {
				return err
			}
			if err = s.make(tx, 0); err != nil {
				return err
			}
			ring.keys, err = s.stored(ctx, tx)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	s.ring.Store(ring)
	return ring, nil
}

// retiredSQL: a key is over when its successor has been signing for longer than a token lives, with two
// minutes for processes whose clock or reading is late.
const retiredSQL = `EXISTS (SELECT 1 FROM signing_key n WHERE n.use_at > k.use_at AND n.use_at < now() - make_interval(secs => $1))`

var retireAfter = (accessLife + 2*time.Minute).Seconds()

func (s *Service) stored(ctx context.Context, tx *postgres.Tx) ([]signingKey, error) {
	rows, err := tx.Query(ctx, `SELECT kid, public, private, use_at FROM signing_key k WHERE NOT `+retiredSQL+` ORDER BY use_at, kid`, retireAfter)
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
			return k, fmt.Errorf("signing key %s is damaged", k.kid)
		}
		k.public, k.private = public, ed25519.NewKeyFromSeed(seed)
		return k, nil
	})
}

// make writes a new key that signs after lead.
func (s *Service) make(tx *postgres.Tx, lead time.Duration) error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	kid := id.New().String()
	sealed, err := s.Box.Seal(private.Seed(), "signing_key/"+kid)
	if err != nil {
		return err
	}
	tx.Queue(`INSERT INTO signing_key (kid, public, private, use_at) VALUES ($1, $2, $3, now() + make_interval(secs => $4))`,
		kid, []byte(public), sealed, lead.Seconds())
	return nil
}

// Rotate publishes a new signing key, which signs after Options.Lead, and drops those that are over. Until
// then and for as long as their tokens live the older keys count, so no request fails anywhere.
func (s *Service) Rotate(ctx context.Context) error {
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("SELECT pg_advisory_xact_lock(hashtext('funnelwork.signing_key'))")
		tx.Queue(`DELETE FROM signing_key k WHERE `+retiredSQL, retireAfter)
		return s.make(tx, s.Lead)
	})
	if err != nil {
		return fmt.Errorf("rotate signing keys: %w", err)
	}
	return nil
}

// JWK is a public key as RFC 8037 writes it.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	X         string `json:"x"`
}

// PublicKeys are the keys that tokens may be signed with, now or soon; one that Rotate made is among them within
// a second, whichever process made it.
func (s *Service) PublicKeys(ctx context.Context) ([]JWK, error) {
	ring, err := s.current(ctx, time.Now(), min(s.Reload, time.Second))
	if err != nil {
		return nil, err
	}
	set := make([]JWK, len(ring.keys))
	for i, k := range ring.keys {
		set[i] = JWK{KeyType: "OKP", Curve: "Ed25519", Use: "sig", Algorithm: algorithm, KeyID: k.kid, X: base64.RawURLEncoding.EncodeToString(k.public)}
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
