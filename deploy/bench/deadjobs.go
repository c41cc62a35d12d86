package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/migrations"
)

const (
	deadRounds = 60 // searches for each set of fields
	deadPage   = 50
	deadSoon   = 200 * time.Millisecond
)

// buryJobs inserts $1 dead jobs of the last 30 days: 300 orgs, one of which has a third of them; 12 kinds, of which one
// has half and one a thousandth; and realistic errors of handlers, with addresses, ports and ids.
const buryJobs = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, attempt, state, created_at, run_at, last_error)
SELECT md5('org ' || CASE WHEN g % 3 = 0 THEN 0 ELSE g % 300 END)::uuid, gen_random_uuid(),
	CASE WHEN g % 1000 = 7 THEN 'bench.rare' WHEN g % 2 = 0 THEN 'bench.common' ELSE 'bench.kind' || g % 10 END,
	'{}', (ARRAY['default', 'webhooks', 'bulk', 'critical', 'remote'])[1 + g % 7 % 5], 8, 8, 'dead', at, at,
	CASE h % 6
	WHEN 0 THEN 'dial tcp 10.' || h / 6 % 200 || '.' || h / 1200 % 250 || '.' || h % 251 ||
	':443: connect: connection refused'
	WHEN 1 THEN 'POST https://hooks.example' || h / 6 % 5000 || '.com/in/' || md5(g::text) ||
	': status 503: upstream connect error or disconnect/reset before headers'
	WHEN 2 THEN 'time limit of 15s: context deadline exceeded while waiting for job ' || gen_random_uuid()
	WHEN 3 THEN 'read tcp 192.168.' || h % 250 || '.' || h / 250 % 250 || ':' || 1024 + h % 60000 ||
	'->10.0.0.5:5432: read: connection reset by peer'
	WHEN 4 THEN 'ERROR: duplicate key value violates unique constraint "contact_email_key" (SQLSTATE 23505), row ' || h
	ELSE 'panic: runtime error: index out of range [' || h % 97 || '] with length ' || h % 89 || ' of contact ' ||
	gen_random_uuid() END
FROM (SELECT g, hashint4(g) & 1073741823 AS h, now() - g * interval '30 days' / $1::int AS at
FROM generate_series(1, $1::int) AS g) AS made`

const listDeaths = `INSERT INTO job_death (org_id, id, kind, lane, died_at, error)
	SELECT org_id, id, kind, lane, run_at, lower(last_error COLLATE "C") FROM job`

// field is a search field, with values to draw from.
type field struct {
	name   string
	values []func(*operator.Filter)
}

func deadFields(ctx context.Context, admin *pgx.Conn) ([]field, error) {
	org := func(n int) func(*operator.Filter) {
		return func(f *operator.Filter) {
			var o id.ID
			if err := admin.QueryRow(ctx, "SELECT md5('org ' || $1::int)::uuid", n).Scan(&o); err == nil {
				f.Org = &o
			}
		}
	}
	kind := func(name string) func(*operator.Filter) { return func(f *operator.Filter) { f.Kind = name } }
	span := func(from, to time.Duration) func(*operator.Filter) {
		return func(f *operator.Filter) {
			after, before := time.Now().Add(-from), time.Now().Add(-to)
			f.After, f.Before = &after, &before
		}
	}
	text := func(part string) func(*operator.Filter) { return func(f *operator.Filter) { f.Error = part } }
	// One complete old text: all of its parts are common, and it occurs once.
	var once [3]string
	for i := range once {
		err := admin.QueryRow(ctx,
			`SELECT last_error FROM job WHERE created_at < now() - $1::int * interval '8 days'
				ORDER BY created_at DESC LIMIT 1`, i+1).Scan(&once[i])
		if err != nil {
			return nil, err
		}
	}
	const day = 24 * time.Hour
	return []field{
		{
			"kind",
			[]func(*operator.Filter){kind("bench.common"), kind("bench.kind3"), kind("bench.rare"), kind("bench.none")},
		},
		{"lane", []func(*operator.Filter){func(f *operator.Filter) { f.Lane = queue.Bulk }, func(f *operator.Filter) {
			f.Lane = queue.Critical
		}}},
		{"org", []func(*operator.Filter){org(0), org(7), org(-1)}},
		{
			"time",
			[]func(*operator.Filter){span(time.Hour, 0), span(20*day, 19*day), span(30*day, 0), span(29*day, 15*day)},
		},
		{"error", []func(*operator.Filter){
			text("connection"), text("STATUS 503"), text("no such text anywhere"),
			text("10.42.17."), text("refused by peer"), text("connection refused by upstream"),
			text("hooks.example777."), text("(sqlstate 23505), row 77"),
			text(once[0]), text(once[1]), text(once[2]),
		}},
	}, nil
}

// deadJobs searches n dead jobs by every set of fields, as an operator's page does and in the same role.
func deadJobs(ctx context.Context, log *slog.Logger, n int) error {
	pg, err := local.StartPostgres(ctx, local.PostgresOptions{Log: log})
	if err != nil {
		return err
	}
	defer func() { _ = pg.Stop(context.WithoutCancel(ctx)) }()
	if err := migrations.Up(ctx, pg.URL, log); err != nil {
		return err
	}
	admin, err := pgx.Connect(ctx, pg.URL)
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	if err := bury(ctx, admin, n); err != nil {
		return err
	}
	fields, err := deadFields(ctx, admin)
	if err != nil {
		return err
	}
	system, err := postgres.Open(ctx, postgres.Options{URL: pg.URL, Role: postgres.System, MaxConns: 1, Name: "bench"})
	if err != nil {
		return err
	}
	defer system.Close()
	var server int // backend of the pool's only session
	if err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT pg_backend_pid()", nil, &server)
	}); err != nil {
		return err
	}
	operators := operator.New(store.New(nil, system), nil)
	scans, err := wholeReads(ctx, admin)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n%d dead jobs\tp50\tp95\tp99\tserver's processor, p95\tthe longest\n", n)
	slowest := time.Duration(0)
	for set := range 1 << len(fields) {
		var by []field
		names := []string{}
		for i, f := range fields {
			if set&(1<<i) != 0 {
				by, names = append(by, f), append(names, f.name)
			}
		}
		took, used, worst, err := searches(ctx, operators, by, server)
		if err != nil {
			return fmt.Errorf("%v: %w", names, err)
		}
		if len(names) == 0 {
			names = []string{"nothing"}
		}
		fmt.Fprintf(t, "by %s\t%s\t%s\t%s\t%s\t%s\n", strings.Join(names, ", "),
			short(quantile(took, .5)), short(quantile(took, .95)), short(quantile(took, .99)),
			short(quantile(used, .95)), worst)
		slowest = max(slowest, quantile(took, .95))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	after, err := wholeReads(ctx, admin)
	if err != nil {
		return err
	}
	verdict(os.Stdout, "no search reads a table from end to end", after == scans, fmt.Sprintf("%d times", after-scans))
	verdict(os.Stdout, "p95 of a search at most 200 ms, by whatever fields", slowest <= deadSoon, short(slowest))
	return nil
}

// bury fills the tables without their text indexes, which are created faster afterwards.
func bury(ctx context.Context, admin *pgx.Conn, n int) error {
	var index string
	if err := admin.QueryRow(ctx, "SELECT indexdef FROM pg_indexes WHERE indexname = 'job_death_error'").
		Scan(&index); err != nil {
		return err
	}
	for _, sql := range []string{
		"SET synchronous_commit = off", "SET maintenance_work_mem = '512MB'", "DROP INDEX job_death_error",
		"ALTER TABLE job DISABLE TRIGGER USER",
		strings.ReplaceAll(buryJobs, "$1", strconv.Itoa(n)), listDeaths, "ALTER TABLE job ENABLE TRIGGER USER",
		index, "ALTER INDEX job_death_error ALTER COLUMN 1 SET STATISTICS 0", "VACUUM ANALYZE job",
		"VACUUM ANALYZE job_death",
	} {
		at := time.Now()
		if _, err := admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		if took := time.Since(at); took > time.Second {
			name, _, _ := strings.Cut(strings.TrimSpace(sql), " (")
			fmt.Printf("%s: %.0f s\n", name, took.Seconds())
		}
	}
	return nil
}

// wholeReads returns the number of sequential scans of the jobs' tables.
func wholeReads(ctx context.Context, admin *pgx.Conn) (n int, err error) {
	if _, err := admin.Exec(ctx, "SELECT pg_stat_force_next_flush()"); err != nil { // includes this session's reads
		return 0, err
	}
	err = admin.QueryRow(ctx, "SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN ('job', 'job_death')").
		Scan(&n)
	return n, err
}

// searches draws values of the fields in turn and reads the first page and, for every other value, the second. It
// returns the sorted durations and the CPU time of the session's backend; worst names the filter of the longest search.
func searches(ctx context.Context, operators *operator.Operator, by []field, server int) (took, used []time.Duration,
	worst string, err error,
) {
	longest := time.Duration(0)
	for round := range deadRounds {
		f := operator.Filter{}
		for _, field := range by {
			if field.name == "error" {
				field.values[round%len(field.values)](&f)
			} else {
				field.values[rand.IntN(len(field.values))](&f)
			}
		}
		var next *operator.Place
		for range 1 + round%2 {
			at, before := time.Now(), processorOf(server)
			if _, next, err = operators.Search(ctx, f, deadPage, next); err != nil {
				return nil, nil, "", err
			}
			last := time.Since(at)
			took, used = append(took, last), append(used, processorOf(server)-before)
			if last > longest {
				longest = last
				worst = fmt.Sprintf("%s: kind %q, lane %q, error %q", short(last), f.Kind, f.Lane, f.Error)
			}
			if next == nil {
				break
			}
		}
	}
	slices.Sort(took)
	slices.Sort(used)
	return took, used, worst, nil
}

// processorOf returns the CPU time that a process has used, which does not depend on the machine's load; 0 if the
// system does not report it.
func processorOf(pid int) (used time.Duration) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err == nil {
		_, err = fmt.Sscan(string(b), &used)
	}
	if err != nil {
		return 0
	}
	return used
}
