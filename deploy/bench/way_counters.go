package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// settled waits until no job is due.
func (s *way) settled(ctx context.Context) error {
	for {
		var due int
		if err := s.admin.QueryRow(ctx,
			"SELECT count(*) FROM job WHERE state <> 'dead' AND run_at <= now()").Scan(&due); err != nil {
			return err
		}
		if due == 0 {
			return nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%d jobs are due still: %w", due, err)
		}
	}
}

// wal returns how many bytes the WAL has had so far.
func (w *world) wal(ctx context.Context) (bytes float64, err error) {
	err = w.admin.QueryRow(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8").Scan(&bytes)
	return bytes, err
}

// counters are Postgres's own, by table.
type counters struct {
	updated, hot map[string]int64
	live, dead   int64 // rows of job
}

// counters reads the counters once all sessions have handed in theirs.
func (s *way) counters(ctx context.Context, c *counters) error {
	if err := pause(ctx, flushed); err != nil {
		return err
	}
	rows, err := s.admin.Query(ctx,
		`SELECT regexp_replace(relname, '_\d{8}$', '') AS name, sum(n_tup_upd)::int8, sum(n_tup_hot_upd)::int8,
			sum(n_live_tup)::int8, sum(n_dead_tup)::int8 FROM pg_stat_user_tables GROUP BY name`)
	if err != nil {
		return err
	}
	defer rows.Close()
	c.updated, c.hot = map[string]int64{}, map[string]int64{}
	for rows.Next() {
		var name string
		var updated, hot, live, dead int64
		if err := rows.Scan(&name, &updated, &hot, &live, &dead); err != nil {
			return err
		}
		c.updated[name], c.hot[name] = updated, hot
		if name == "job" {
			c.live, c.dead = live, dead
		}
	}
	return rows.Err()
}

// print prints what has been counted since before.
func (c *counters) print(before *counters) {
	for _, name := range []string{"contact", "job", "webhook_delivery"} {
		updated := c.updated[name] - before.updated[name]
		if updated == 0 {
			continue
		}
		hot := float64(c.hot[name]-before.hot[name]) / float64(updated)
		fmt.Printf("updates of %s: %.2f a contact, %.0f %% of them HOT\n", name,
			float64(updated)/(wayRounds*wayContacts), 100*hot)
		if name == "job" {
			verdict(os.Stdout, "updates of job at least 70 % HOT", hot >= .7, fmt.Sprintf("%.0f %%", 100*hot))
		}
	}
	fmt.Printf("rows of job: %d live, %d dead\n", c.live, c.dead)
	verdict(os.Stdout, "dead rows of job at most 5 x live + 1,000", c.dead <= 5*c.live+1000,
		fmt.Sprintf("%d and %d", c.dead, c.live))
}

// count sends contacts one after the other through an API and a worker behind a tap, and prints how many statements and
// transactions one takes.
func (s *way) count(ctx context.Context) error {
	const warm, n = 100, 100
	t, url, err := newTap(ctx, s.postgres.URL)
	if err != nil {
		return err
	}
	defer t.close()
	setting := "DATABASE_URL=" + url
	api, err := s.start(ctx, "api", setting)
	if err != nil {
		return err
	}
	defer api.stop()
	worker, err := s.start(ctx, "worker", setting)
	if err != nil {
		return err
	}
	defer worker.stop()
	clients := newClients(api.addr, 1)
	send := func(n int) error {
		s.receiver.reset()
		for i := range n {
			if _, err := clients.post(s.world.orgs[i%len(s.world.orgs)], newMark()); err != nil {
				return err
			}
		}
		return errors.Join(s.delivered(ctx, n), s.settled(ctx), s.clear(ctx))
	}
	if err := send(warm); err != nil {
		return err
	}
	statements, groups := t.sent()
	if err := send(n); err != nil {
		return err
	}
	lateStatements, lateGroups := t.sent()
	fmt.Printf("one contact after the other: %.1f statements in %.1f round trips a contact, polling included\n",
		float64(lateStatements-statements)/n, float64(lateGroups-groups)/n)
	return nil
}
