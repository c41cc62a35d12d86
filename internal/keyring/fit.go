package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// ErrLacking means that the keyset lacks keys under which the database is sealed; the error names their ids.
var ErrLacking = errors.New("the keyset does not fit the database")

// lacking returns ErrLacking with the ids.
func lacking(ids []int64) error {
	texts := make([]string, len(ids))
	for i, key := range ids {
		texts[i] = strconv.FormatInt(key, 10)
	}
	return fmt.Errorf("%w: it lacks key %s; give this process the keyset of the others, in its newest form",
		ErrLacking, strings.Join(texts, ", "))
}

// Check returns ErrLacking unless the keyset opens what is sealed. A command that ends by itself calls it; a
// long-running process enters instead.
func (r Resealer) Check(ctx context.Context) error {
	return r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		promoted, err := promotedKeys(ctx, tx)
		if err == nil && len(promoted) == 0 {
			promoted, err = r.sampleKeys(ctx, tx)
		}
		if err != nil {
			return err
		}
		return checkHeld(r.Box.Ring(), promoted)
	})
}

// checkHeld returns ErrLacking unless the ring holds all keys.
func checkHeld(ring secret.Ring, keys []int64) error {
	missing := slices.DeleteFunc(slices.Clone(keys), func(k int64) bool { return ring.Holds(uint32(k)) })
	if len(missing) == 0 {
		return nil
	}
	return lacking(missing)
}

// promotedKeys returns the keys that every process must hold.
func promotedKeys(ctx context.Context, tx *postgres.Tx) ([]int64, error) {
	rows, err := tx.Query(ctx,
		`SELECT id FROM sealing_key WHERE promoted_at IS NOT NULL AND retired_at IS NULL ORDER BY id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// claimDatabase promotes the primary key of the first process of all, so that the database refuses every other keyset
// from then on. It does nothing once a key is promoted. What an earlier version sealed, which promoted no first key,
// must open: in it every row has the same key, so that one row of each column is looked at.
func (r Resealer) claimDatabase(ctx context.Context, tx *postgres.Tx) error {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('funnelwork.first_key', 0))`)
	promoted, err := promotedKeys(ctx, tx)
	if err != nil || len(promoted) > 0 {
		return err
	}

	sealed, err := r.sampleKeys(ctx, tx)
	if err != nil {
		return err
	}

	ring := r.Box.Ring()
	if err := checkHeld(ring, sealed); err != nil {
		return err
	}

	promoteKey(tx, ring.Primary)

	return nil
}

// promoteKey records that processes seal with the key, so that each of them must hold it.
func promoteKey(tx *postgres.Tx, key uint32) {
	tx.Queue(`INSERT INTO sealing_key (id, promoted_at) VALUES ($1, now())
		ON CONFLICT (id) DO UPDATE SET promoted_at = coalesce(sealing_key.promoted_at, now())`, int64(key))
}

// sampleKeys returns the keys of one sealed row of each column.
func (r Resealer) sampleKeys(ctx context.Context, tx *postgres.Tx) (keys []int64, err error) {
	for _, c := range r.Columns {
		var key int64
		err := tx.QueryRow(ctx, fmt.Sprintf(`SELECT sealed_key(%[2]s) FROM %[1]s
			WHERE length(%[2]s) > 5 AND get_byte(%[2]s, 0) = 1 LIMIT 1`, c.Table, c.Name), nil, &key)
		if postgres.None(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read a ciphertext of %s.%s: %w", c.Table, c.Name, err)
		}

		keys = append(keys, key)
	}

	slices.Sort(keys)

	return slices.Compact(keys), nil
}
