package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/feed"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/migrations"
)

const (
	feedRoom   = 400 // slots that a round may allocate
	feedRounds = 100
	feedHolds  = 5 // rounds after which a round's jobs are done
	feedSoon   = 10 * time.Millisecond
)

// backlog is a table full of waiting jobs, of orgs md5('1'), md5('2') and so on, and the SQL that fills it.
type backlog struct {
	name string
	sql  []string // if empty, the table stays as it is
	full bool     // no job ends during the measurement, so that MaxInFlight is reached
	turn bool     // the turn of the org that waits longest is measured
}

// insertJobs inserts $n jobs: org, concurrency key, due time, and whether the feeder has seen it.
const insertJobs = `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line, run_at, due)
SELECT md5((%s)::text)::uuid, gen_random_uuid(), 'bench.noop', '{}', 'default', 8, %s, now() + %s, %t
FROM generate_series(1, %d) AS g`

func insert(org, line, at string, due bool, n int) string {
	return fmt.Sprintf(insertJobs, org, line, at, due, n)
}

// backlogs returns the backlogs to measure.
func backlogs() []backlog {
	const late = "interval '-1 hour' + g * interval '1 ms'"
	return []backlog{
		{name: "100 jobs", sql: []string{insert("g % 20", "NULL", late, true, 100)}, full: true},
		{name: "1,000,000 jobs of 200 orgs", sql: []string{insert("g % 200", "NULL", late, true, 1_000_000)}},
		{name: "the same, every window full", full: true},
		{name: "5,000 orgs with 50 future jobs each, 20 with 2,000 due", sql: []string{
			insert("1000 + g % 5000", "NULL", "interval '1 hour' + g * interval '1 ms'", false, 250_000),
			insert("g % 20", "NULL", late, true, 40_000),
		}},
		{name: "a held line of 200,000, and 20,000 jobs of its org and of another's", sql: []string{
			"INSERT INTO job_line (org_id, id, held_until) VALUES (md5('0')::uuid, md5('line')::uuid, now() + " +
				"interval '1 day')",
			insert("0", "md5('line')::uuid", "interval '-2 hours'", true, 200_000),
			insert("g % 2", "NULL", late, true, 40_000),
		}},
		{name: "20,000 lines of 20 orgs, 5 jobs each", sql: []string{
			insert("g % 20", "md5((g % 20000)::text)::uuid", late, true, 100_000),
		}},
		{name: "100,000 orgs, 1 to 30 jobs each", sql: []string{
			insert("g % 100000", "NULL", late, true, 100_000),
			insert("g % 10000", "NULL", "interval '-1 day'", true, 290_000),
		}, turn: true},
	}
}

// feeder measures one round of the feeder, and the count of the backlog, with tables of very different content, with a
// plain round trip in between. Jobs end some rounds after they got their slot and leave dead rows that are not vacuumed
// yet.
func feeder(ctx context.Context, log *slog.Logger) error {
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
	if _, err := admin.Exec(ctx, "SET synchronous_commit = off"); err != nil {
		return err
	}
	slowest := time.Duration(0)
	for _, b := range backlogs() {
		p95, err := b.measure(ctx, pg.URL, admin)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		slowest = max(slowest, p95)
	}
	verdict(os.Stdout, "p95 of a round at most 10 ms, with any backlog", slowest <= feedSoon, short(slowest))
	return nil
}

// measure fills the backlog and returns the p95 of a round.
func (b *backlog) measure(ctx context.Context, url string, admin *pgx.Conn) (time.Duration, error) {
	sql := b.sql
	if sql != nil {
		sql = slices.Concat([]string{"TRUNCATE job, job_line"}, sql, []string{"VACUUM ANALYZE job", "ANALYZE job_line"})
	}
	for _, sql := range sql {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return 0, fmt.Errorf("%s: %w", sql, err)
		}
	}
	system, err := postgres.Open(ctx, postgres.Options{URL: url, Role: postgres.System, MaxConns: 1, Name: "bench"})
	if err != nil {
		return 0, err
	}
	defer system.Close()
	ledger := store.New(nil, system)
	feeder := feed.New(ledger)
	var given [][]queue.Ref
	fed := 0
	steps := []struct {
		name string
		run  func() error
	}{
		{"SELECT 1", func() error {
			_, err := admin.Exec(ctx, "SELECT 1")
			return err
		}},
		{"look for lanes", func() error {
			return last(feeder.Waiting(ctx))
		}},
		{"round", func() error {
			refs, err := feeder.Round(ctx, queue.Default, feedRoom)
			given, fed = append(given, refs), fed+len(refs)
			return err
		}},
		{"count of the backlog", func() error {
			_, err := ledger.Backlogs(ctx)
			return err
		}},
	}
	if b.full {
		for len(given) == 0 || len(given[len(given)-1]) > 0 {
			if err := steps[2].run(); err != nil {
				return 0, err
			}
		}
		given, fed = nil, 0
	}
	took := make([][]time.Duration, len(steps))
	for round := range feedRounds + feedHolds {
		for i, s := range steps {
			at := time.Now()
			if err := s.run(); err != nil {
				return 0, fmt.Errorf("%s: %w", s.name, err)
			}
			if round >= feedHolds {
				took[i] = append(took[i], time.Since(at))
			}
		}
		if !b.full && len(given) > feedHolds {
			if err := end(ctx, admin, given[0]); err != nil {
				return 0, err
			}
			given = given[1:]
		}
	}
	slots := fed / (feedRounds + feedHolds)
	fmt.Printf("\n%s; a round gives %d slots\n", b.name, slots)
	if b.turn {
		if err := b.longestTurn(ctx, admin, feeder, given, slots); err != nil {
			return 0, err
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tp50\tp95\tlongest")
	for i, s := range steps {
		slices.Sort(took[i])
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.name, short(quantile(took[i], .5)), short(quantile(took[i], .95)),
			short(quantile(took[i], 1)))
	}
	return quantile(took[2], .95), t.Flush()
}

// longestTurn repeats rounds whose jobs end at once until each org with a job has got a slot, and prints how many
// rounds that takes. given is the slots that have not ended; their orgs no longer wait.
func (b *backlog) longestTurn(ctx context.Context, admin *pgx.Conn, feeder *feed.Feeder, given [][]queue.Ref,
	slots int,
) error {
	for _, refs := range given {
		if err := end(ctx, admin, refs); err != nil {
			return err
		}
	}
	var orgs int
	if err := admin.QueryRow(ctx, "SELECT count(DISTINCT org_id) FROM job").Scan(&orgs); err != nil {
		return err
	}
	turn, rounds, served := float64(orgs)/float64(slots), 0, map[id.ID]bool{}
	for ; len(served) < orgs && float64(rounds) < 20*turn; rounds++ {
		refs, err := feeder.Round(ctx, queue.Default, feedRoom)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			served[ref.Org] = true
		}
		if err := end(ctx, admin, refs); err != nil {
			return err
		}
	}
	waited := float64(rounds) / turn
	verdict(os.Stdout, fmt.Sprintf("none of %d orgs waits more than twice its turn", orgs),
		waited <= 2 && len(served) == orgs, fmt.Sprintf("%.2f turns", waited))
	return nil
}

// end deletes the jobs, as a worker does with completed ones.
func end(ctx context.Context, admin *pgx.Conn, jobs []queue.Ref) error {
	var orgs, ids []id.ID
	for _, j := range jobs {
		orgs, ids = append(orgs, j.Org), append(ids, j.ID)
	}
	tag, err := admin.Exec(ctx,
		"DELETE FROM job USING unnest($1::uuid[], $2::uuid[]) AS d (org_id, id) WHERE job.org_id = d.org_id AND "+
			"job.id = d.id", orgs, ids)
	if err == nil && int(tag.RowsAffected()) != len(jobs) {
		return errors.New("a job got two slots")
	}
	return err
}

// last returns the error that a call returned last. Other commits' calls, which -against compiles, return other values
// before it.
func last(results ...any) error {
	err, _ := results[len(results)-1].(error)
	return err
}
