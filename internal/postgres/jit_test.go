package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestNoTransactionCompilesItsQueriesOnAServerThatWould(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	var server string
	if err := testkit.Pgx(t, kit.URL).QueryRow(t.Context(), "SHOW jit").Scan(&server); err != nil {
		t.Fatal(err)
	}
	if server != "on" {
		t.Fatalf("the server has jit %s, which is not Postgres's default", server)
	}
	for _, role := range []string{postgres.App, postgres.System} {
		for name, pooler := range map[string]bool{"direct": false, "pooler": true} {
			db, _ := open(t, kit.URL, role, pooler)
			ways := map[string]func(context.Context, *string) error{
				"a transaction": func(ctx context.Context, jit *string) error {
					return db.Tx(ctx, id.New(), func(tx *postgres.Tx) error {
						return tx.QueryRow(ctx, "SHOW jit", nil, jit)
					})
				},
				"a batch": func(ctx context.Context, jit *string) error {
					return db.Tx(ctx, id.New(), func(tx *postgres.Tx) error {
						tx.Queue("SELECT current_setting('jit')").QueryRow(func(row pgx.Row) error {
							return row.Scan(jit)
						})
						return nil
					})
				},
				"another org's part of a transaction": func(ctx context.Context, jit *string) error {
					return db.Tx(ctx, id.New(), func(tx *postgres.Tx) error {
						return tx.In(ctx, id.New(), func() error { return tx.QueryRow(ctx, "SHOW jit", nil, jit) })
					})
				},
				"a view": func(ctx context.Context, jit *string) error {
					return db.ReadTx(ctx, id.New(), func(tx *postgres.Tx) error {
						if err := tx.QueryRow(ctx, "SHOW jit", nil, jit); err != nil {
							return err
						}
						return tx.QueryRow(ctx, "SHOW jit", nil, jit)
					})
				},
				"a read by key": func(ctx context.Context, jit *string) error {
					return db.BatchedGet(ctx, id.New(), "SHOW jit", nil, func(row pgx.CollectableRow) error {
						return row.Scan(jit)
					})
				},
			}
			for way, run := range ways {
				var jit string
				if err := run(t.Context(), &jit); err != nil {
					t.Errorf("%s, %s, %s: %v", role, name, way, err)
				}
				if jit != "off" {
					t.Errorf("%s, %s, %s: jit is %q", role, name, way, jit)
				}
			}
		}
	}
}
