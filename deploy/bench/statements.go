package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// topStatements is how many statements are printed.
const topStatements = 12

// countStatements has the world's Postgres, which startCounting has started, count statements from now on.
func (w *world) countStatements(ctx context.Context) error {
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		"ALTER SYSTEM SET pg_stat_statements.track_planning = on",
		"SELECT pg_reload_conf()",
		"SELECT pg_stat_statements_reset()",
	} {
		if _, err := w.admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// printStatements prints the statements that took the most time since countStatements, of a time of that length. A
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
