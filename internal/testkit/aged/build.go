package aged

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed sql/*.sql
var files embed.FS

// partFile is the file that runs once for each part of the contacts.
const partFile = "sql/05_part.sql"

// Build fills the migrated database at url, as a superuser. onStep, if not nil, is called with the time of each step.
func Build(
	ctx context.Context, url string, size Size, state State, onStep func(step string, took time.Duration),
) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	b := &build{conn: conn, size: size, state: state, now: time.Now().UTC().Truncate(time.Second), onStep: onStep}
	all, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		return err
	}
	for _, name := range all {
		if name != partFile {
			err = b.file(ctx, name, 1)
		} else {
			err = b.parts(ctx)
		}
		if err != nil {
			return err
		}
	}
	if state == Analyzed {
		if err := b.analyze(ctx); err != nil {
			return err
		}
	}
	if err := b.exec(ctx, "CHECKPOINT", "CHECKPOINT"); err != nil {
		return err
	}
	return addKeys(ctx, conn, url)
}

// build is one run of Build.
type build struct {
	conn   *pgx.Conn
	size   Size
	state  State
	now    time.Time
	onStep func(step string, took time.Duration)
}

// parts runs the contacts' file for both parts. Unless the state is Analyzed, the statistics are made between them.
func (b *build) parts(ctx context.Context) error {
	if err := b.exec(ctx, "autovacuum", keepStatistics); err != nil {
		return err
	}
	if err := b.file(ctx, partFile, 1); err != nil {
		return err
	}
	if b.state != Analyzed {
		if err := b.analyze(ctx); err != nil {
			return err
		}
	}
	return b.file(ctx, partFile, 2)
}

// file runs the statements of a file.
func (b *build) file(ctx context.Context, name string, part int) error {
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	step := strings.TrimSuffix(strings.TrimPrefix(name, "sql/"), ".sql")
	if name == partFile {
		step += " " + strconv.Itoa(part)
	}
	return b.exec(ctx, step, b.replacer(part).Replace(string(text)))
}

// replacer fills in the numbers of the build.
func (b *build) replacer(part int) *strings.Replacer {
	number := strconv.Itoa
	return strings.NewReplacer(
		"@now", "'"+b.now.Format(time.RFC3339)+"'::timestamptz", "@seed", number(b.size.Seed), "@part", number(part),
		"@state", string(b.state), "@orgs", number(b.size.Orgs), "@middles", number(b.size.Middles),
		"@smalls", number(b.size.Smalls), "@huge", number(b.size.Huge), "@middle", number(b.size.Middle),
		"@grown", number(b.size.Grown), "@small", number(b.size.Small), "@behind", number(b.size.Behind),
		"@ahead", number(b.size.Ahead))
}

// keepStatistics keeps autovacuum, which looks at the tables once a minute, from the statistics of the state.
const keepStatistics = `DO $$
DECLARE leaf regclass;
BEGIN
	FOR leaf IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
		EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', leaf);
	END LOOP;
END $$`

// leaves are the tables that autovacuum would look at: all that hold rows but today's partitions, which have been
// written since.
const leaves = `SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
	AND relname !~ ('_' || to_char($1::timestamptz AT TIME ZONE 'UTC', 'YYYYMMDD') || '$') ORDER BY 1`

// analyze makes the statistics, and the visibility maps that come with them.
func (b *build) analyze(ctx context.Context) error {
	rows, err := b.conn.Query(ctx, leaves, b.now)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if err := b.exec(ctx, "others", endOthers); err != nil {
		return err
	}
	if err := b.exec(ctx, "session", commitAtOnce); err != nil {
		return err
	}
	return b.exec(ctx, "statistics", "VACUUM ANALYZE "+strings.Join(tables, ", "))
}

// commitAtOnce writes each commit to the log before the next statement. Otherwise VACUUM, whose own commits move the
// end of what is not written yet, may leave whole tables out of the visibility map, depending on the numbers of the
// transactions: the server keeps one position in the log for 32 of them.
const commitAtOnce = "SET synchronous_commit = on"

// endOthers ends what may still have a snapshot of the database, as a worker of autovacuum has that began before it was
// switched off: pages that it may see differently would stay out of the visibility map.
const endOthers = `DO $$
BEGIN
	FOR n IN 1..600 LOOP
		PERFORM pg_stat_clear_snapshot();
		PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'autovacuum worker';
		EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL);
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$`

func (b *build) exec(ctx context.Context, step, sql string) error {
	began := time.Now()
	if _, err := b.conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("build %s: %w", step, err)
	}
	if b.onStep != nil {
		b.onStep(step, time.Since(began))
	}
	return nil
}
