package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

const (
	dropDays = 40      // age of the day
	dropStep = 500_000 // rows of one insert
)

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
