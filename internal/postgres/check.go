package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Oldest is the first version of Postgres that the product runs on.
const Oldest = 15

// Check connects once, within 10 s, and tells whether url leads to a server that will do.
func Check(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read DATABASE_URL: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // also behind a pooler
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return fmt.Errorf("ask Postgres for its version: %w", err)
	}
	if version/10000 < Oldest {
		return fmt.Errorf("DATABASE_URL leads to Postgres %d; %d or later is needed", version/10000, Oldest)
	}
	return nil
}
