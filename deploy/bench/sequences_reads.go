package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// reads is how many entries of the indexes that a tick uses, and rows of their tables without one, were read so far.
type reads map[string]int64

// reads returns the counts once all sessions have handed in theirs, which may take flushed.
func (w *world) reads(ctx context.Context) (reads, error) {
	if err := pause(ctx, flushed); err != nil {
		return nil, err
	}
	rows, _ := w.admin.Query(ctx, `
		SELECT name, n FROM (
			SELECT relname, indexrelname AS name, idx_tup_read AS n FROM pg_stat_user_indexes
			UNION ALL
			SELECT relname, 'all rows of ' || relname, seq_tup_read FROM pg_stat_user_tables
		) x WHERE n > 0 AND relname IN ('enrolment', 'send_group', 'schedule_zone', 'job', 'contact', 'mailbox')`)
	out := reads{}
	var name string
	var n int64
	_, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		out[name] = n
		return nil
	})
	return out, err
}

// since returns those of which more than ten were read for each of n operations since before.
func (r reads) since(before reads, n int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if each := float64(r[name]-before[name]) / float64(n); each > 10 {
			parts = append(parts, fmt.Sprintf("%s %.0f", name, each))
		}
	}
	if len(parts) == 0 {
		return "at most 10 of each index"
	}
	return strings.Join(parts, ", ")
}
