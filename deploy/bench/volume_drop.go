package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

const (
	dropRate        = 200
	dropConnections = 16
	dropWarm        = 5 * time.Second
	dropBefore      = 30 * time.Second
	dropAfter       = 25 * time.Second // from the start of the drop on
	dropDays        = 40               // age of the day
	dropStep        = 500_000          // rows of one insert
)

// drops measures POST contact at a steady rate while retention drops a day of n events.
func drops(ctx context.Context, log *slog.Logger, n int) error {
	w, err := newWorld(ctx, log, flowOrgs)
	if err != nil {
		return err
	}
	defer w.close()
	api, err := w.start(ctx, "api")
	if err != nil {
		return err
	}
	if _, err := newClients(api.addr, 1).post(w.orgs[0], newMark()); err != nil {
		return err
	}
	if err := w.oldDay(ctx, n); err != nil {
		return fmt.Errorf("build the day: %w", err)
	}
	system, err := postgres.Open(ctx, postgres.Options{
		URL: w.postgres.URL, Role: postgres.System, MaxConns: 2, Name: "bench",
	})
	if err != nil {
		return err
	}
	defer system.Close()
	job := platformretention.Job{System: system, Log: log}
	var dropping sync.WaitGroup
	var took time.Duration
	var failed error
	cl, crowd := newClients(api.addr, dropConnections), newCrowd(w.orgs, new(atomic.Int64), dropConnections)
	start := int((dropWarm + dropBefore).Seconds()) * dropRate
	posts, err := openInOrder(ctx, dropRate, dropWarm+dropBefore+dropAfter, dropConnections, func(worker, i int) error {
		if i == start {
			dropping.Go(func() {
				at := time.Now()
				failed = job.Work(ctx, nil)
				took = time.Since(at)
			})
		}
		return cl.call(worker, crowd.caller(worker).key, "POST", contactsPath, contactBody(newMark()), 201, nil)
	})
	dropping.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if took > dropAfter {
		return fmt.Errorf("the drop took %s, which is longer than the posts went on", took)
	}
	return w.printDrop(ctx, posts, start, took)
}

// printDrop prints the posts before the drop, those that were due from its start until a second after its end, and
// those after.
func (w *world) printDrop(ctx context.Context, posts []time.Duration, start int, took time.Duration) error {
	var left int
	if err := w.admin.QueryRow(ctx, `SELECT count(*) FROM pg_class WHERE relname = $1`, oldDayName()).
		Scan(&left); err != nil || left > 0 {
		return errors.Join(err, fmt.Errorf("%d of the day's tables are left", left))
	}
	end := min(start+int((took+time.Second).Seconds()*dropRate), len(posts))
	part := func(title string, from, to int) time.Duration {
		some := slices.Sorted(slices.Values(posts[from:to]))
		percentiles(fmt.Sprintf("POST contact, %d per second, %s", dropRate, title), some)
		return quantile(some, .99)
	}
	before := part("before", int(dropWarm.Seconds())*dropRate, start)
	during := part("retention's run of "+short(took)+" and a second more", start, end)
	part("after", end, len(posts))
	ratio := during.Seconds() / before.Seconds()
	verdict(os.Stdout, "p99 during the drop at most 2 times that before", ratio <= 2, fmt.Sprintf("%.2f", ratio))
	return nil
}

func oldDay() time.Time { return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -dropDays) }

func oldDayName() string { return "event_" + oldDay().Format("20060102") }

// oldDay adds an expired day of n copies of an event, without fsync, and syncs it.
func (w *world) oldDay(ctx context.Context, n int) error {
	day, name := oldDay(), oldDayName()
	exec := func(sql string) error {
		if _, err := w.admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		return nil
	}
	for _, sql := range []string{
		"ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET max_wal_size = '4GB'", "SELECT pg_reload_conf()",
		"SET session_replication_role = replica", "SET synchronous_commit = off",
		fmt.Sprintf("CREATE TABLE %s PARTITION OF event FOR VALUES FROM (uuid_floor('%s')) TO (uuid_floor('%s'))", name,
			day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339)),
		fmt.Sprintf("ALTER TABLE %s SET (autovacuum_enabled = off)", name),
	} {
		if err := exec(sql); err != nil {
			return err
		}
	}
	at := fmt.Sprintf("'%s'::timestamptz + g * interval '24 hours' / %d", day.Format(time.RFC3339), n+1)
	began := time.Now()
	for from := 1; from <= n; from += dropStep {
		sql, err := w.copySQL(ctx, name, "event", map[string]string{
			"org_id": fmt.Sprintf("md5((g %% %d)::text)::uuid", flowOrgs), "id": "uuidv7_at(" + at + ")", "seq": "g",
			"created_at": at,
		}, fmt.Sprintf("generate_series(%d, %d) g", from, min(from+dropStep-1, n)))
		if err != nil {
			return err
		}
		if err := exec(sql); err != nil {
			return err
		}
	}
	for _, sql := range []string{
		"SET session_replication_role = DEFAULT", "SET synchronous_commit = on", "ALTER SYSTEM RESET fsync",
		"ALTER SYSTEM RESET max_wal_size", "SELECT pg_reload_conf()", "CHECKPOINT",
	} {
		if err := exec(sql); err != nil {
			return err
		}
	}
	syscall.Sync()
	s, err := w.sizeOf(ctx, name)
	if err == nil {
		fmt.Printf("a day of %d events, %.1f GB with its indexes, built in %s\n", s.rows,
			float64(s.heap+s.indexes)/1e9, time.Since(began).Round(time.Second))
	}
	return err
}
