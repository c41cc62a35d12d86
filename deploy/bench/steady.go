package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
)

const (
	steadyMinutes     = 30
	steadyRate        = 80 // contacts per second
	steadyConnections = 16
	steadyOrgs        = 1000
	steadyRefused     = 10 // one webhook of so many is refused once
	steadyDelivered   = 2 * time.Minute
)

// steady posts contacts at a steady rate, each with a webhook, and prints once a minute how many buffers the statements
// read that find jobs by key. The worker is never restarted, so that its sessions keep the plans that they made when
// the table looked otherwise.
func steady(ctx context.Context, log *slog.Logger, minutes int) error {
	w, err := newWorldOn(ctx, log, steadyOrgs, startCounting(log))
	if err != nil {
		return err
	}
	defer w.close()
	s, err := serveWay(ctx, w, 0)
	if err != nil {
		return err
	}
	if _, err := s.admin.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return err
	}
	s.receiver.refuseOnce = steadyRefused
	post := newClients(s.api.addr, steadyConnections).
		poster(newCrowd(s.world.orgs, new(atomic.Int64), steadyConnections))
	looks := make([]jobLook, 1, minutes+1)
	if looks[0], err = s.lookAtJobs(ctx); err != nil {
		return err
	}
	fmt.Printf("%d contacts per second; buffers that a statement reads for each job (jobs of a call)\n", steadyRate)
	var posts []time.Duration
	for minute := range minutes {
		took, err := open(ctx, steadyRate, time.Minute, steadyConnections, func(worker, _ int) error {
			return post(ctx, worker)
		})
		if err != nil {
			return err
		}
		now, err := s.lookAtJobs(ctx)
		if err != nil {
			return err
		}
		posts, looks = append(posts, took...), append(looks, now)
		fmt.Printf("minute %d: %s\n", minute+1, now.since(looks[minute]))
	}
	return s.judgeSteady(ctx, posts, looks)
}

// judgeSteady waits for the deliveries and prints what holds.
func (s *way) judgeSteady(ctx context.Context, posts []time.Duration, looks []jobLook) error {
	ctx, cancel := context.WithTimeout(ctx, steadyDelivered)
	defer cancel()
	if err := s.receiver.await(ctx, len(posts)); err != nil {
		return err
	}
	slices.Sort(posts)
	percentiles(fmt.Sprintf("POST contact, %d per second, worker running", steadyRate), posts)
	if err := s.printSessions(ctx); err != nil {
		return err
	}
	first, last := looks[0], looks[len(looks)-1]
	all := last.minus(first)
	if found := all.reads["delete"].rows; found == 0 || float64(found) < .9*float64(all.deleted) {
		return fmt.Errorf("of %d deleted jobs, %d were by a statement that is known here", all.deleted, found)
	}
	most, worst := 0., last
	for i := range looks[1:] {
		most = max(most, looks[i+1].minus(looks[i]).reads["delete"].each())
		if looks[i+1].dead-5*looks[i+1].live > worst.dead-5*worst.live {
			worst = looks[i+1]
		}
	}
	each := last.minus(looks[len(looks)-2]).reads["delete"].each()
	fmt.Printf("the whole time: %s\n", last.since(first))
	verdict(os.Stdout, fmt.Sprintf("a delete by key reads at most 10 buffers a job after %d minutes", len(looks)-1),
		each <= 10, fmt.Sprintf("%.1f, at most %.1f in a minute", each, most))
	verdict(os.Stdout, "updates of job at least 70 % HOT", all.hotShare() >= .7,
		fmt.Sprintf("%.0f %%", 100*all.hotShare()))
	verdict(os.Stdout, "dead rows of job at most 5 x live + 1,000, each minute", worst.dead <= 5*worst.live+1000,
		fmt.Sprintf("at worst %d and %d", worst.dead, worst.live))
	return nil
}

// printSessions prints how old the sessions of the API and the worker are.
func (s *way) printSessions(ctx context.Context) error {
	rows, _ := s.admin.Query(ctx, `SELECT application_name, count(*)::int,
			extract(epoch FROM now() - max(backend_start))::float8,
			extract(epoch FROM now() - min(backend_start))::float8
		FROM pg_stat_activity WHERE application_name LIKE 'funnelwork %' GROUP BY 1 ORDER BY 1`)
	var name string
	var n int
	var youngest, oldest float64
	_, err := pgx.ForEachRow(rows, []any{&name, &n, &youngest, &oldest}, func() error {
		fmt.Printf("%d sessions of %s are %.0f to %.0f minutes old\n", n, name, youngest/60, oldest/60)
		return nil
	})
	return err
}

// startCounting starts a Postgres with pg_stat_statements, whose library it only loads when it starts.
func startCounting(log *slog.Logger) func(context.Context, *world) (*local.Postgres, error) {
	return func(ctx context.Context, w *world) (*local.Postgres, error) {
		home, err := os.MkdirTemp("", "funnelwork-bench-")
		if err != nil {
			return nil, err
		}
		w.closers = append(w.closers, func() { _ = os.RemoveAll(home) })
		if err := os.Chmod(home, 0o711); err != nil { //nolint:gosec // the server's user passes through
			return nil, err
		}
		options := local.PostgresOptions{Home: home, Log: log}
		server, err := local.StartPostgres(ctx, options)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(preload(ctx, server.URL), server.Stop(ctx)); err != nil {
			return nil, err
		}
		return local.StartPostgres(ctx, options)
	}
}

func preload(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")
	return errors.Join(err, conn.Close(ctx))
}
