package orgkey

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/bounded"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// cachedKeys is the number of keys in each half of a Cache.
const cachedKeys = 4096

// Cache finds the keys of orgs in memory or in the database. An org's key never changes, so that a cached one is valid.
// It is safe for concurrent use.
type Cache struct {
	db   *postgres.DB
	box  *secret.Sealer
	keys bounded.Map[id.ID, Key]
}

// NewCache returns an empty Cache.
func NewCache(db *postgres.DB, box *secret.Sealer) *Cache {
	c := &Cache{db: db, box: box}
	c.keys.Half = cachedKeys
	return c
}

// Find returns the key of an org. It is the zero Key if there is no such org or if the org has none yet.
func (c *Cache) Find(ctx context.Context, org id.ID) (Key, error) {
	if key, ok := c.keys.Get(org); ok {
		return key, nil
	}
	var pair Pair
	err := c.db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		pair, err = Find(ctx, tx, c.box)
		return err
	})
	if err != nil || pair.Org.IsZero() {
		return Key{}, err
	}
	c.keys.Put(org, pair.Org)
	return pair.Org, nil
}
