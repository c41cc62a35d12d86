package oauth

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Postgres is a Store in table sandbox_oauth. System is a pool of the System role; Box seals the bodies, so that a dump
// of the database shows no token, not even the sandbox provider's copy.
type Postgres struct {
	System *postgres.DB
	Box    *secret.Sealer
}

// Update implements Store. One advisory lock serializes the writers of all processes.
func (p Postgres) Update(ctx context.Context, fn func(Tx) error) error {
	err := p.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("SELECT pg_advisory_xact_lock(hashtext('funnelwork.sandbox.oauth'))")
		if err := tx.Flush(ctx); err != nil { // take the lock before the first snapshot
			return err
		}
		return fn(postgresTx{tx, p.Box})
	})
	if err != nil {
		return fmt.Errorf("sandbox oauth: %w", err)
	}

	return nil
}

type postgresTx struct {
	tx  *postgres.Tx
	box *secret.Sealer
}

func sealContext(kind, id string) string { return "sandbox_oauth/" + kind + "/" + id }

func (p postgresTx) Get(ctx context.Context, kind, id string) ([]byte, error) {
	var sealed []byte
	err := p.tx.QueryRow(ctx, "SELECT body FROM sandbox_oauth WHERE kind = $1 AND id = $2", []any{kind, id}, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	return p.box.Open(sealed, sealContext(kind, id))
}

func (p postgresTx) Put(ctx context.Context, kind, id string, body []byte) error {
	sealed, err := p.box.Seal(body, sealContext(kind, id))
	if err != nil {
		return err
	}

	_, err = p.tx.Exec(ctx,
		"INSERT INTO sandbox_oauth (kind, id, body) VALUES ($1, $2, $3) ON CONFLICT (kind, id) DO UPDATE SET body "+
			"= excluded.body", kind, id, sealed)

	return err
}

func (p postgresTx) Delete(ctx context.Context, kind, id string) error {
	_, err := p.tx.Exec(ctx, "DELETE FROM sandbox_oauth WHERE kind = $1 AND id = $2", kind, id)
	return err
}

func (p postgresTx) List(ctx context.Context, kind string, limit int) ([][]byte, error) {
	sql := "SELECT id, body FROM sandbox_oauth WHERE kind = $1 ORDER BY seq DESC"
	args := []any{kind}
	if limit > 0 {
		sql, args = sql+" LIMIT $2", append(args, limit)
	}

	rows, err := p.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]byte, error) {
		var id string
		var sealed []byte
		if err := row.Scan(&id, &sealed); err != nil {
			return nil, err
		}
		return p.box.Open(sealed, sealContext(kind, id))
	})
}
