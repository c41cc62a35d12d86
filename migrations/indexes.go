package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// An index on a table with many rows is made while the table is read and written. Its migration is a file
// NUMBER_name.indexes of statements CREATE [UNIQUE] INDEX name ON table ...; which name neither CONCURRENTLY nor a
// partition. A migration that was killed is run again from its start: an index that is complete is kept, and one that
// is not is dropped and made anew.

// indexStatement matches a statement of such a file: UNIQUE, the index, the table, and the rest.
var indexStatement = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX (\w+) ON (\w+) ([^;]+)$`)

// index is one index to make.
type index struct {
	unique            bool
	name, table, rest string
}

// createSQL returns the statement that makes the index. how precedes its name, as CONCURRENTLY does, and on is the
// table, which ONLY may precede.
func (i *index) createSQL(how, name, on string) string {
	create := "CREATE INDEX "
	if i.unique {
		create = "CREATE UNIQUE INDEX "
	}
	return create + how + " " + name + " ON " + on + " " + i.rest
}

// parseIndexes returns the indexes of a file.
func parseIndexes(text string) (all []index, err error) {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	for statement := range strings.SplitSeq(strings.Join(lines, ""), ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		if statement == "" {
			continue
		}
		m := indexStatement.FindStringSubmatch(statement)
		if m == nil {
			return nil, fmt.Errorf("not CREATE [UNIQUE] INDEX name ON table: %s", statement)
		}
		all = append(all, index{unique: m[1] != "", name: m[2], table: m[3], rest: m[4]})
	}
	return all, nil
}

// indexMigrations returns the migrations of the files *.indexes.
func indexMigrations() (all []*goose.Migration, err error) {
	names, err := fs.Glob(Files, "*.indexes")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		version, err := goose.NumericComponent(strings.TrimSuffix(name, ".indexes") + ".sql")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text, err := Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		indexes, err := parseIndexes(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		up := func(ctx context.Context, db *sql.DB) error { return makeIndexes(ctx, db, indexes) }
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunDB: up}, nil))
	}
	return all, nil
}

func makeIndexes(ctx context.Context, db *sql.DB, indexes []index) error {
	for _, i := range indexes {
		var partitioned bool
		if err := db.QueryRowContext(ctx, `SELECT relkind = 'p' FROM pg_class WHERE oid = $1::regclass`, i.table).
			Scan(&partitioned); err != nil {
			return fmt.Errorf("make index %s: %w", i.name, err)
		}
		create := makeIndex
		if partitioned {
			create = makePartitionedIndex
		}
		if err := create(ctx, db, &i, i.name, i.table); err != nil {
			return fmt.Errorf("make index %s: %w", i.name, err)
		}
	}
	return nil
}

// makeIndex makes an index of a table that has no partitions.
func makeIndex(ctx context.Context, db *sql.DB, i *index, name, table string) error {
	var valid bool
	err := db.QueryRowContext(ctx, `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)`, name).
		Scan(&valid)
	switch {
	case err == nil && valid:
		return nil
	case err == nil: // a run before was killed while it made it
		if _, err := db.ExecContext(ctx, "DROP INDEX CONCURRENTLY "+name); err != nil {
			return err
		}
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	_, err = db.ExecContext(ctx, i.createSQL("CONCURRENTLY", name, table))
	return err
}

// makePartitionedIndex makes the index of each partition, and attaches it to the index of the parent, which is valid
// when all are attached. A partition that is made meanwhile gets the index with its table.
func makePartitionedIndex(ctx context.Context, db *sql.DB, i *index, name, table string) error {
	if err := soon(ctx, db, i.createSQL("IF NOT EXISTS", name, "ONLY "+table)); err != nil {
		return err
	}
	for {
		var partition string
		err := db.QueryRowContext(ctx, `
			SELECT c.relname FROM pg_inherits t JOIN pg_class c ON c.oid = t.inhrelid
			WHERE t.inhparent = $1::regclass AND NOT EXISTS (
				SELECT FROM pg_inherits x JOIN pg_index p ON p.indexrelid = x.inhrelid
				WHERE x.inhparent = $2::regclass AND p.indrelid = c.oid)
			ORDER BY c.relname DESC LIMIT 1`, table, name).Scan(&partition)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		child := name + strings.TrimPrefix(partition, table) // such as event_feed_20260102
		if err := makeIndex(ctx, db, i, child, partition); err != nil {
			return err
		}
		if err := soon(ctx, db, "ALTER INDEX "+name+" ATTACH PARTITION "+child); err != nil {
			return err
		}
	}
}

// soon executes a statement that takes a strong lock for a moment. Others queue behind a lock that is waited for, so it
// waits for 100 ms at most, and tries again until ctx ends.
func soon(ctx context.Context, db *sql.DB, statement string) error {
	for {
		err := withLockTimeout(ctx, db, statement)
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "55P03" {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func withLockTimeout(ctx context.Context, db *sql.DB, statement string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '100ms'"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, statement); err != nil {
		return err
	}
	return tx.Commit()
}
