package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
)

// topStatements is how many statements are printed.
const topStatements = 12

// countingPostgres starts a Postgres that counts its statements by pg_stat_statements. Where that is not installed, the
// server counts none.
func countingPostgres(ctx context.Context, log *slog.Logger, w *world) (*local.Postgres, error) {
	home, err := os.MkdirTemp("/tmp", "fw-bench-") // short enough for a socket in it
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() { _ = os.RemoveAll(home) })
	if err := os.Chmod(home, 0o755); err != nil { // the server's user passes through
		return nil, err
	}
	o := local.PostgresOptions{Home: home, Log: log}
	p, err := local.StartPostgres(ctx, o)
	if err != nil {
		return nil, err
	}
	there, err := preload(ctx, p.URL)
	if err == nil && !there {
		return p, nil
	}
	_ = p.Stop(ctx)
	if err != nil {
		return nil, err
	}
	if p, err = local.StartPostgres(ctx, o); err != nil {
		return nil, err
	}
	err = execute(ctx, p.URL, "CREATE EXTENSION pg_stat_statements",
		"ALTER SYSTEM SET pg_stat_statements.track_planning = on", "SELECT pg_reload_conf()")
	if err != nil {
		_ = p.Stop(ctx)
		return nil, err
	}
	return p, nil
}

// preload has the server load pg_stat_statements when it starts the next time. It returns false where that is not
// installed.
func preload(ctx context.Context, url string) (there bool, err error) {
	sql, err := pgx.Connect(ctx, url)
	if err != nil {
		return false, err
	}
	defer func() { _ = sql.Close(ctx) }()
	err = sql.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements')").
		Scan(&there)
	if err == nil && there {
		_, err = sql.Exec(ctx, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")
	}
	return there, err
}

// execute executes statements in a session of its own.
func execute(ctx context.Context, url string, statements ...string) error {
	sql, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = sql.Close(ctx) }()
	for _, s := range statements {
		if _, err := sql.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// countsStatements reports whether the world's Postgres counts statements. If so, it begins anew.
func (w *world) countsStatements(ctx context.Context) (bool, error) {
	var there bool
	err := w.admin.QueryRow(ctx, "SELECT to_regclass('pg_stat_statements') IS NOT NULL").Scan(&there)
	if err == nil && there {
		_, err = w.admin.Exec(ctx, "SELECT pg_stat_statements_reset()")
	}
	return there, err
}

// printStatements prints the statements that took the most time since countsStatements, of a time of that length. A
// statement's time is that of its plans and executions, which is about its processor time in an idle service.
func (w *world) printStatements(ctx context.Context, out io.Writer, length time.Duration) error {
	rows, err := w.admin.Query(ctx, `
		SELECT pg_get_userbyid(userid)::text, calls, total_plan_time + total_exec_time, rows,
			shared_blks_hit + shared_blks_read, regexp_replace(query, '\s+', ' ', 'g'),
			sum(total_plan_time + total_exec_time) OVER ()
		FROM pg_stat_statements WHERE pg_get_userbyid(userid) LIKE 'funnelwork\_%'
		ORDER BY 3 DESC LIMIT $1`, topStatements)
	if err != nil {
		return err
	}
	var role, query string
	var calls, found, blocks int64
	var took, all float64
	header := false
	_, err = pgx.ForEachRow(rows, []any{&role, &calls, &took, &found, &blocks, &query, &all}, func() error {
		if !header {
			fmt.Fprintf(out, "statements of that time, %.2f ms a second in Postgres:\n", all/length.Seconds())
			header = true
		}
		n := float64(max(calls, 1))
		fmt.Fprintf(out, "  %6.2f ms a second: %.2f calls a second, of %.2f ms, %.0f rows and %.0f pages, by %s: %s\n",
			took/length.Seconds(), float64(calls)/length.Seconds(), took/n, float64(found)/n, float64(blocks)/n,
			strings.TrimPrefix(role, "funnelwork_"), cut(query, 150))
		return nil
	})
	return err
}

// cut returns at most n bytes of ASCII text.
func cut(text string, n int) string {
	if text = strings.TrimSpace(text); len(text) > n {
		return text[:n] + "..."
	}
	return text
}
