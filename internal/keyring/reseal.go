package keyring

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Column is a column that holds ciphertexts. The system role can read it, and update it if About is set.
type Column struct {
	Table, Name string
	Key         []KeyPart // the primary key
	// About returns the context that a row's ciphertext is bound to. It is nil for rows that expire within a day and
	// are not resealed.
	About func(key []string) string
}

// KeyPart is a column of a primary key and its type.
type KeyPart struct{ Name, Type string }

// OrgAndID is the primary key of nearly every table.
func OrgAndID() []KeyPart { return []KeyPart{{"org_id", "uuid"}, {"id", "uuid"}} }

// ByOrgAndID returns the About of ciphertexts that are bound to "<prefix>/<org>/<id>".
func ByOrgAndID(prefix string) func([]string) string {
	return func(key []string) string { return prefix + "/" + key[0] + "/" + key[1] }
}

// batch is how many rows one transaction reseals.
const batch = 200

// Resealer reseals with the primary key what older keys sealed.
type Resealer struct {
	System  *postgres.DB
	Box     *secret.Sealer
	Columns []Column
}

// Pass goes through all columns once. It returns how many ciphertexts it resealed, and how many it could not open and
// left unchanged. It skips a row that is changed concurrently, since the writer seals with the primary key.
func (r Resealer) Pass(ctx context.Context) (anew, shut int, err error) {
	for _, c := range r.Columns {
		if c.About == nil {
			continue
		}

		n, m, err := r.resealColumn(ctx, c)
		anew += n
		shut += m
		if err != nil {
			return anew, shut, fmt.Errorf("reseal %s.%s: %w", c.Table, c.Name, err)
		}
	}

	return anew, shut, nil
}

// Settled reports whether every process, including this one, seals with the newest promoted key. Until then a pass may
// leave ciphertexts of older keys.
func (r Resealer) Settled(ctx context.Context) (settled bool, err error) {
	r.Box.Reload()
	err = r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT NOT EXISTS (SELECT FROM process WHERE seen_at > now() - $2::interval AND primary_key <> $1)
			AND coalesce((SELECT id FROM sealing_key WHERE promoted_at IS NOT NULL
			ORDER BY promoted_at DESC, added_at DESC LIMIT 1) = $1, true)`,
			[]any{int64(r.Box.Ring().Primary), Gone}, &settled)
	})
	return settled, err
}

type sealedRow struct {
	key    []string
	sealed []byte
}

func (r Resealer) resealColumn(ctx context.Context, c Column) (anew, shut int, err error) {
	var after []string
	for {
		rows, err := r.readOutdated(ctx, c, after)
		if err != nil || len(rows) == 0 {
			return anew, shut, err
		}

		var next []sealedRow // rows to write, with their old ciphertext
		var fresh [][]byte

		for _, row := range rows {
			plain, err := r.Box.Open(row.sealed, c.About(row.key))
			if err != nil {
				shut++
				continue
			}

			sealed, err := r.Box.Seal(plain, c.About(row.key))
			if err != nil {
				return anew, shut, err
			}

			next = append(next, row)
			fresh = append(fresh, sealed)
		}

		n, err := r.writeResealed(ctx, c, next, fresh)
		if err != nil {
			return anew, shut, err
		}

		anew += n
		if after = rows[len(rows)-1].key; len(rows) < batch {
			return anew, shut, nil
		}
	}
}

// readOutdated returns the next rows after the given primary key with a ciphertext of an older encryption key.
func (r Resealer) readOutdated(ctx context.Context, c Column, after []string) (out []sealedRow, err error) {
	args := []any{int64(r.Box.Ring().Primary), batch}
	var names, texts, bounds []string

	for i, k := range c.Key {
		names = append(names, k.Name)
		texts = append(texts, k.Name+"::text")
		if after != nil {
			args = append(args, after[i])
			bounds = append(bounds, fmt.Sprintf("$%d::text::%s", len(args), k.Type))
		}
	}

	key := strings.Join(names, ", ")
	where := ""
	if after != nil {
		where = fmt.Sprintf(" AND (%s) > (%s)", key, strings.Join(bounds, ", "))
	}

	sql := fmt.Sprintf("SELECT %[1]s, %[2]s FROM %[3]s WHERE %[2]s IS NOT NULL AND sealed_key(%[2]s) <> $1%[4]s "+
		"ORDER BY %[5]s LIMIT $2",
		strings.Join(texts, ", "), c.Name, c.Table, where, key)
	err = r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}

		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sealedRow, err error) {
			s.key = make([]string, len(c.Key))
			to := make([]any, 0, len(c.Key)+1)
			for i := range s.key {
				to = append(to, &s.key[i])
			}
			err = row.Scan(append(to, &s.sealed)...)
			return s, err
		})

		return err
	})

	return out, err
}

// writeResealed replaces each ciphertext with the resealed one, if the row still has the ciphertext that was read.
func (r Resealer) writeResealed(ctx context.Context, c Column, rows []sealedRow, fresh [][]byte) (anew int, err error) {
	var where []string
	for i, k := range c.Key {
		where = append(where, fmt.Sprintf("%s = $%d::text::%s", k.Name, i+3, k.Type))
	}

	sql := fmt.Sprintf("UPDATE %[1]s SET %[2]s = $1 WHERE %[2]s = $2 AND %[3]s", c.Table, c.Name,
		strings.Join(where, " AND "))
	err = r.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		anew = 0
		for i, row := range rows {
			args := []any{fresh[i], row.sealed}
			for _, k := range row.key {
				args = append(args, k)
			}

			tx.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error {
				anew += int(tag.RowsAffected())
				return nil
			})
		}

		return nil
	})

	return anew, err
}
