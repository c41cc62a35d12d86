package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// jobReads is what statements have read so far: their calls, the jobs that these found, and buffers, from memory or
// from disk.
type jobReads struct{ calls, rows, buffers int64 }

// each returns the buffers of one job; those of the calls if they found none.
func (r jobReads) each() float64 { return float64(r.buffers) / float64(max(r.rows, 1)) }

// jobLook is counters of Postgres at one time, for the table of jobs.
type jobLook struct {
	reads                 map[string]jobReads
	updated, hot, deleted int64
	live, dead            int64
}

// byKey is the statements that find jobs by key, in the order in which a job meets them.
var byKey = []string{"claim", "outcome", "delete"}

// lookSQL finds the statements by their beginning, as pg_stat_statements keeps them: constants are numbered.
const lookSQL = `
SELECT name, sum(calls)::int8, sum(rows)::int8, sum(shared_blks_hit + shared_blks_read)::int8
FROM (
	SELECT calls, rows, shared_blks_hit, shared_blks_read, CASE
		WHEN query ~ 'DELETE FROM job\s+(USING mine|WHERE org_id = )' THEN 'delete'
		WHEN query ~ 'UPDATE job SET owner = \S+, lease_until = now\(\)' THEN 'claim'
		WHEN query ~ 'FOR UPDATE OF job SKIP LOCKED' THEN 'claim'
		WHEN query ~ 'UPDATE job SET (owner = \S+, lease_until = (\$|NULL)|attempt = )' THEN 'outcome'
	END AS name
	FROM pg_stat_statements
) s WHERE name IS NOT NULL GROUP BY name`

func (w *world) lookAtJobs(ctx context.Context) (l jobLook, err error) {
	l.reads = map[string]jobReads{}
	rows, _ := w.admin.Query(ctx, lookSQL)
	var name string
	var r jobReads
	if _, err := pgx.ForEachRow(rows, []any{&name, &r.calls, &r.rows, &r.buffers}, func() error {
		l.reads[name] = r
		return nil
	}); err != nil {
		return l, err
	}
	err = w.admin.QueryRow(ctx, `SELECT n_tup_upd, n_tup_hot_upd, n_tup_del, n_live_tup, n_dead_tup
		FROM pg_stat_user_tables WHERE relid = 'job'::regclass`).
		Scan(&l.updated, &l.hot, &l.deleted, &l.live, &l.dead)
	return l, err
}

// minus returns what was counted since before. The live and dead rows are those of now.
func (l jobLook) minus(before jobLook) jobLook {
	out := jobLook{
		reads: map[string]jobReads{}, updated: l.updated - before.updated, hot: l.hot - before.hot,
		deleted: l.deleted - before.deleted, live: l.live, dead: l.dead,
	}
	for name, r := range l.reads {
		b := before.reads[name]
		out.reads[name] = jobReads{r.calls - b.calls, r.rows - b.rows, r.buffers - b.buffers}
	}
	return out
}

func (l jobLook) hotShare() float64 { return float64(l.hot) / float64(max(l.updated, 1)) }

// since returns one line about what was counted since before.
func (l jobLook) since(before jobLook) string {
	d := l.minus(before)
	var parts []string
	for _, name := range byKey {
		r := d.reads[name]
		parts = append(parts, fmt.Sprintf("%s %.1f (%.1f)", name, r.each(), float64(r.rows)/float64(max(r.calls, 1))))
	}
	return fmt.Sprintf("%s; %d jobs deleted, %d updates, %.0f %% HOT; %d rows live, %d dead", strings.Join(parts, ", "),
		d.deleted, d.updated, 100*d.hotShare(), d.live, d.dead)
}
