package migrations

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// MakeIndexes makes the indexes of a file with the given text in the database at url.
func MakeIndexes(ctx context.Context, url, text string) error {
	all, err := parseIndexes(text)
	if err != nil {
		return err
	}
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	return makeIndexes(ctx, db, all)
}
