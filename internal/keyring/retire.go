package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// quiet is how long a key must have been unused for sealing before it may be retired.
const quiet = 15 * time.Minute

// ErrInUse means that a key cannot be retired yet; its text states why.
var ErrInUse = errors.New("the key is in use")

// Use counts the ciphertexts of one key in one column.
type Use struct {
	Column string // table.name
	Key    uint32
	Rows   int64
}

// Uses counts the ciphertexts of every key in every column. It scans all of the tables.
func (r Resealer) Uses(ctx context.Context) (out []Use, err error) {
	for _, c := range r.Columns {
		err := r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			// Some columns hold plain text in rows without a secret; a ciphertext begins with a 1.
			rows, err := tx.Query(ctx, fmt.Sprintf(`SELECT sealed_key(%[2]s), count(*) FROM %[1]s
				WHERE length(%[2]s) > 5 AND get_byte(%[2]s, 0) = 1 GROUP BY 1 ORDER BY 1`, c.Table, c.Name))
			if err != nil {
				return err
			}

			var key, n int64
			_, err = pgx.ForEachRow(rows, []any{&key, &n}, func() error {
				out = append(out, Use{Column: c.Table + "." + c.Name, Key: uint32(key), Rows: n})
				return nil
			})

			return err
		})
		if err != nil {
			return nil, fmt.Errorf("count ciphertexts of %s.%s: %w", c.Table, c.Name, err)
		}
	}

	return out, nil
}

// Retire removes the key from the keyset. It returns ErrInUse while anything is or may be sealed under the key.
func (r Resealer) Retire(ctx context.Context, keyset Keyset, key uint32) error {
	return keyset.Edit(func(text string) (string, error) {
		box, err := secret.Parse(text)
		if err != nil {
			return "", err
		}

		switch ring := box.Ring(); {
		case !ring.Holds(key):
			return "", fmt.Errorf("the keyset has no key %d", key)
		case ring.Primary == key:
			return "", fmt.Errorf("%w: it is the primary key; rotate first", ErrInUse)
		case ring.Newest() == key:
			return "", fmt.Errorf("%w: its rotation is unfinished; rotate again", ErrInUse)
		}

		if err := r.retireUnused(ctx, key); err != nil {
			return "", err
		}

		return secret.Drop(text, key)
	})
}

// retireUnused checks that no process and no ciphertext needs the key, and records it as retired. The record comes
// before the removal, since a process exits when it lacks a promoted key.
func (r Resealer) retireUnused(ctx context.Context, key uint32) error {
	err := r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var sealers, open int64
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM process
			WHERE primary_key = $1 AND seen_at > now() - $2::interval OR former_key = $1
			AND changed_at > now() - $2::interval`,
			[]any{int64(key), quiet}, &sealers); err != nil {
			return err
		}
		if sealers > 0 {
			return fmt.Errorf("%w: %d processes seal with it, or did within %s", ErrInUse, sealers, quiet)
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM social_grant WHERE attempt_state IS NOT NULL
			AND attempt_at < coalesce((SELECT max(promoted_at) FROM sealing_key), '-infinity') + $1::interval`,
			[]any{quiet}, &open); err != nil {
			return err
		}
		if open > 0 {
			return fmt.Errorf("%w: %d token refreshes that began under it are still open", ErrInUse, open)
		}

		return nil
	})
	if err != nil {
		return err
	}

	uses, err := r.Uses(ctx)
	if err != nil {
		return err
	}

	uses = slices.DeleteFunc(uses, func(u Use) bool { return u.Key != key })
	var where []string
	for _, u := range uses {
		where = append(where, fmt.Sprintf("%d in %s", u.Rows, u.Column))
	}

	if len(where) > 0 {
		return fmt.Errorf("%w: %s", ErrInUse, strings.Join(where, ", "))
	}

	return r.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE sealing_key SET retired_at = now() WHERE id = $1`, int64(key))
		return nil
	})
}
