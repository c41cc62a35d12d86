// Package orgkey keeps a random key per org, with which values are hashed that must not be guessed from outside: the
// addresses of people who were purged, and Message-IDs. A key is sealed in its row and never changes, because what was
// hashed with it is stored. A rotation of the keyset reseals it.
package orgkey

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Key is a key of an org. fmt, slog and encoding/json show at most the address of its bytes.
type Key struct{ bytes *[]byte }

// IsZero reports whether k is no key: the platform has none as long as it has hashed nothing.
func (k Key) IsZero() bool { return k.bytes == nil }

// Hash returns the HMAC-SHA256 of text, 32 bytes. Hashes of different purposes are unrelated. The zero Key must not be
// used.
func (k Key) Hash(purpose, text string) []byte {
	h := hmac.New(sha256.New, *k.bytes)
	_, _ = h.Write([]byte(purpose + "\x00" + text)) // never fails
	return h.Sum(nil)
}

// Pair has the key of an org and the platform's.
type Pair struct{ Org, Platform Key }

// Of returns the keys for the org of tx, whose own key is created if it has none yet; so tx must be able to write.
func Of(ctx context.Context, tx *postgres.Tx, box *secret.Sealer) (Pair, error) {
	p, err := Find(ctx, tx, box)
	if err != nil || !p.Org.IsZero() {
		return p, err
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails
	sealed, err := box.Seal(fresh, about(tx.Org()))
	if err != nil {
		return p, fmt.Errorf("seal org key: %w", err)
	}
	tx.SetValue(createdKey{}, true)
	tx.Queue(`INSERT INTO org_key (org_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING`, tx.Org(), sealed)
	return read(ctx, tx, box) // a concurrent transaction's key, if that was first
}

// The keys under which a transaction keeps the pair, and that it has created the org's key. Such a pair is not kept: a
// rollback to a savepoint may undo it.
type (
	pairKey    struct{}
	createdKey struct{}
)

// Find returns the keys for the org of tx, which may be read-only. The org's own is the zero Key if it has none yet.
func Find(ctx context.Context, tx *postgres.Tx, box *secret.Sealer) (Pair, error) {
	if p, ok := tx.Value(pairKey{}).(Pair); ok {
		return p, nil
	}
	p, err := read(ctx, tx, box)
	if err == nil && !p.Org.IsZero() && tx.Value(createdKey{}) == nil {
		tx.SetValue(pairKey{}, p)
	}
	return p, err
}

func read(ctx context.Context, tx *postgres.Tx, box *secret.Sealer) (p Pair, err error) {
	found := QueueFind(tx, box)
	if err := tx.Flush(ctx); err != nil {
		return p, fmt.Errorf("read org key: %w", err)
	}
	return found()
}

// QueueFind queues what Find reads, so that it costs the caller no round trip of its own. Once the statements of tx
// were sent, the function that it returns gives Find's results.
func QueueFind(tx *postgres.Tx, box *secret.Sealer) func() (Pair, error) {
	org := tx.Org()
	var own, platform []byte // sealed
	tx.Queue(`SELECT org_id, sealed FROM org_key WHERE org_id IN ($1, $2)`, org, id.ID{}).
		Query(func(rows pgx.Rows) error {
			var of id.ID
			var sealed []byte
			_, err := pgx.ForEachRow(rows, []any{&of, &sealed}, func() error {
				if of == org {
					own = sealed
				}
				if of.IsZero() {
					platform = sealed
				}
				return nil
			})
			return err
		})
	return func() (p Pair, err error) {
		if p.Org, err = open(box, org, own); err == nil {
			p.Platform, err = open(box, id.ID{}, platform)
		}
		return p, err
	}
}

// open opens a sealed key; nil is the zero Key.
func open(box *secret.Sealer, org id.ID, sealed []byte) (Key, error) {
	if sealed == nil {
		return Key{}, nil
	}
	plain, err := box.Open(sealed, about(org))
	if err != nil {
		return Key{}, fmt.Errorf("open org key: %w", err)
	}
	return Key{&plain}, nil
}

func about(org id.ID) string { return "org_key/" + org.String() }

// Sealed lists the column with the sealed keys.
func Sealed() []keyring.Column {
	return []keyring.Column{{
		Table: "org_key", Name: "sealed", Key: []keyring.KeyPart{{Name: "org_id", Type: "uuid"}},
		About: func(key []string) string { return "org_key/" + key[0] },
	}}
}
