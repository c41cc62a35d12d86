package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/migrations"
	"github.com/funnelwork/funnelwork/worker"
)

// Parameters of a turn of the queues.
const (
	queueJobs    = 4000 // enqueued and run in one turn
	queueRounds  = 7
	queueAdders  = 16
	queueWorkers = 50
	queueOrgs    = 20
	queueOpen    = 10 * queueWorkers // maximum jobs enqueued and not yet run: a busy queue, not a backlog
	queuePool    = 24                // sessions of each pool
	queuePickups = 300
)

type nothing struct{}

// noop does nothing. Its claim and its outcome are separate transactions, as for a kind with external calls.
var noop = queue.Define[nothing]("bench.noop", queue.Options{})

// contest is a queue under test. add enqueues one job as a request would; each run calls ran.
type contest struct {
	name  string
	start func(ctx context.Context, ran func()) (add func(context.Context) error, stop func() error, err error)
}

// jobQueue compares our queue with plain asynq, which loses what Redis loses, and with River, on the same servers: jobs
// enqueued, committed, delivered and run per second; the latency of a job on an idle queue; and the cost of a job for a
// request that writes a row. River is tuned, as its defaults limit it to ten rounds a second.
func jobQueue(ctx context.Context, log *slog.Logger) error {
	b, err := newBenchQueue(ctx, log)
	defer b.close()
	if err != nil {
		return err
	}
	cs := []contest{
		{"plain asynq", b.plain},
		{"ours", b.ours},
		{"River, tuned", b.river},
	}
	results, used := make([][]slice, len(cs)), make([][]usage, len(cs))
	for round := range queueRounds + 1 {
		for _, i := range rand.Perm(len(cs)) {
			before := b.known.usage(nil)
			s, err := b.turn(ctx, cs[i])
			if err != nil {
				return fmt.Errorf("%s: %w", cs[i].name, err)
			}
			if round > 0 {
				results[i], used[i] = append(results[i], s), append(used[i], b.known.usage(nil).minus(before))
			}
		}
	}
	names := make([]contender, len(cs))
	for i := range cs {
		names[i].name = cs[i].name
	}
	table(os.Stdout,
		fmt.Sprintf(
			"jobs added, each in a transaction of its own, and run; %d adders, %d workers (p50, p99: one addition)",
			queueAdders, queueWorkers), names, results)
	fmt.Println("\nprocessor time of a job, adders and workers in this process")
	for i := range cs {
		at := func(name string) spread {
			return spreadOf(each(used[i], func(u usage) float64 { return float64(u[name].Microseconds()) / queueJobs }))
		}
		all := spreadOf(each(used[i], func(u usage) float64 {
			return u.Seconds()*1e6/queueJobs + float64(u[here].Microseconds())/queueJobs
		}))
		fmt.Printf("  %-14s %4.0f us [%.0f-%.0f]: itself %.0f, Postgres %.0f, Redis %.0f\n", cs[i].name, all.mid,
			all.low, all.high, at(here).mid, at("postgres itself").mid, at("redis").mid)
	}
	toAsynq, toRiver := spreadOf(ratios(results[1], results[0])), spreadOf(ratios(results[1], results[2]))
	verdict(os.Stdout, "at least 0.35 of plain asynq's jobs", toAsynq.mid >= .35, toAsynq.String())
	verdict(os.Stdout, "at least as many as River's", toRiver.mid >= 1, toRiver.String())
	if err := b.pickups(ctx); err != nil {
		return err
	}
	return b.durability(ctx)
}

// figures is one turn beside another commit. The processor time includes this process, which adds and runs the jobs.
func (b *benchQueue) figures(ctx context.Context) (figures, error) {
	from, err := redisReads(ctx, b.redis.URL)
	if err != nil {
		return nil, err
	}
	before := b.known.usage(nil)
	s, err := b.turn(ctx, contest{"ours", b.ours})
	if err != nil {
		return nil, err
	}
	used := b.known.usage(nil).minus(before)
	to, err := redisReads(ctx, b.redis.URL)
	return figures{
		rate: s.perSecond, processorTime: (used.Seconds() + used[here].Seconds()) * 1e6 / queueJobs,
		redisTrips: (to - from) / queueJobs,
	}, err
}

// turn enqueues queueJobs, some hundreds of which are open at a time, and waits until all ran.
func (b *benchQueue) turn(ctx context.Context, c contest) (slice, error) {
	var ran atomic.Int64
	all := make(chan struct{})
	open := make(chan struct{}, queueOpen)
	add, stop, err := c.start(ctx, func() {
		select {
		case <-open:
		default: // a job that ran twice
		}
		if n := ran.Add(1); n == 1 || n == queueJobs+1 {
			select {
			case all <- struct{}{}:
			case <-ctx.Done():
			}
		}
	})
	if err != nil {
		return slice{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	open <- struct{}{}
	if err := add(ctx); err != nil { // shows that everything runs
		return slice{}, err
	}
	if err := await(ctx, all); err != nil {
		return slice{}, err
	}
	took := make([][]time.Duration, queueAdders)
	errs := make([]error, queueAdders)
	var wait sync.WaitGroup
	began := time.Now()
	for w := range queueAdders {
		wait.Go(func() {
			for range queueJobs / queueAdders {
				open <- struct{}{}
				at := time.Now()
				if errs[w] = add(ctx); errs[w] != nil {
					return
				}
				took[w] = append(took[w], time.Since(at))
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return slice{}, err
	}
	if err := await(ctx, all); err != nil {
		return slice{}, fmt.Errorf("%d of %d ran: %w", ran.Load()-1, queueJobs, err)
	}
	whole := time.Since(began)
	each := slices.Concat(took...)
	slices.Sort(each)
	return slice{perSecond: queueJobs / whole.Seconds(), p50: quantile(each, .5), p99: quantile(each, .99)}, nil
}

func await(ctx context.Context, what <-chan struct{}) error {
	select {
	case <-what:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(30 * time.Second):
		return errors.New("not done within 30 s")
	}
}

// pickups enqueues jobs one at a time on an idle queue and measures from the commit to the start of the job.
func (b *benchQueue) pickups(ctx context.Context) error {
	var committed atomic.Int64
	waits := make(chan time.Duration, 1)
	add, stop, err := b.ours(ctx, func() { waits <- time.Duration(time.Now().UnixNano() - committed.Load()) })
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	all := make([]time.Duration, 0, queuePickups)
	for n := range queuePickups + 10 {
		time.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
		b.committed = func() { committed.Store(time.Now().UnixNano()) }
		if err := add(ctx); err != nil {
			return err
		}
		select {
		case d := <-waits:
			if n >= 10 {
				all = append(all, max(d, 0))
			}
		case <-time.After(10 * time.Second):
			return errors.New("a job did not start")
		}
	}
	b.committed = nil
	slices.Sort(all)
	p50, p99 := quantile(all, .5), quantile(all, .99)
	fmt.Printf("\nan idle queue, %d jobs: from the commit to the start of the work\n", len(all))
	verdict(os.Stdout, "p50 at most 15 ms, p99 at most 50 ms",
		p50 <= 15*time.Millisecond && p99 <= 50*time.Millisecond, short(p50)+" and "+short(p99))
	return nil
}

// durability compares a request that writes a row with one that also enqueues a job.
func (b *benchQueue) durability(ctx context.Context) error {
	_, stop, err := b.ours(ctx, func() {})
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	write := func(job bool) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			return b.app.Tx(ctx, b.org(), func(tx *postgres.Tx) error {
				tx.Queue("INSERT INTO bench_row (org_id, id, note) VALUES ($1, $2, 'a row as a request writes it')",
					tx.Org(), id.New())
				if job {
					return noop.Add(ctx, tx, nothing{})
				}
				return nil
			})
		}
	}
	cs := []contender{{name: "a row", op: write(false)}, {name: "a row and a job", op: write(true)}}
	results, err := match(ctx, cs, 8, 9, 400*time.Millisecond)
	if err != nil {
		return err
	}
	table(os.Stdout, "requests, 8 at once, while a worker runs their jobs", cs, results)
	more := make([]float64, len(results[0]))
	for i := range more {
		more[i] = float64((results[1][i].p50 - results[0][i].p50).Microseconds()) / 1e3
	}
	s := spreadOf(more)
	verdict(os.Stdout, "a job adds at most 1 ms to a request's p50", s.mid <= 1, s.String()+" ms")
	return nil
}

// benchQueue is the servers and the three queues on them.
type benchQueue struct {
	log       *slog.Logger
	postgres  *local.Postgres
	redis     *local.Redis
	app       *postgres.DB // enqueues after commits
	system    *postgres.DB
	riverPool *pgxpool.Pool
	orgs      []id.ID
	known     known
	next      atomic.Int64
	committed func()
	closers   []func()
}

func (b *benchQueue) org() id.ID { return b.orgs[b.next.Add(1)%queueOrgs] }

func (b *benchQueue) close() {
	for _, c := range slices.Backward(b.closers) {
		c()
	}
}

func newBenchQueue(ctx context.Context, log *slog.Logger) (b *benchQueue, err error) {
	b = &benchQueue{log: log}
	for range queueOrgs {
		b.orgs = append(b.orgs, id.New())
	}
	if b.postgres, err = local.StartPostgres(ctx, local.PostgresOptions{Log: log}); err != nil {
		return b, err
	}
	b.closers = append(b.closers, func() { _ = b.postgres.Stop(context.WithoutCancel(ctx)) })
	if b.redis, err = local.StartRedis(ctx, local.RedisOptions{Log: log}); err != nil {
		return b, err
	}
	b.closers = append(b.closers, func() { _ = b.redis.Stop(context.WithoutCancel(ctx)) })
	if b.redis.InProcess {
		return b,
			errors.New("an installed redis-server is required: the in-process Redis is not suitable for benchmarks")
	}
	if err = migrations.Up(ctx, b.postgres.URL, log); err != nil {
		return b, err
	}
	admin, err := pgx.Connect(ctx, b.postgres.URL)
	if err != nil {
		return b, err
	}
	defer func() { _ = admin.Close(ctx) }()
	if _, err = admin.Exec(ctx,
		"CREATE TABLE bench_row (org_id uuid, id uuid, note text, PRIMARY KEY (org_id, id)); CALL "+
			"tenant('bench_row')"); err != nil {
		return b, err
	}
	return b, errors.Join(b.known.servers(ctx, admin, b.redis.URL), b.openOurs(ctx), b.openRiver(ctx))
}

func (b *benchQueue) openOurs(ctx context.Context) error {
	client, err := redisx.Open(b.redis.URL, redisx.Request)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = client.Close() })
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: client, Log: b.log})
	pushing, stop := context.WithCancel(context.WithoutCancel(ctx))
	pushed := make(chan error, 1)
	go func() { pushed <- pusher.Run(pushing) }()
	b.closers = append(b.closers, func() {
		stop()
		if err := <-pushed; err != nil {
			b.log.WarnContext(ctx, "pusher", "error", err)
		}
	})
	after := func(ctx context.Context, notes []any) {
		if b.committed != nil {
			b.committed()
		}
		pusher.AfterCommit(ctx, notes)
	}
	for role, db := range map[string]**postgres.DB{postgres.App: &b.app, postgres.System: &b.system} {
		if *db, err = postgres.Open(ctx,
			postgres.Options{
				URL: b.postgres.URL, Role: role, MaxConns: queuePool, Name: "bench",
				AfterCommit: after,
			}); err != nil {
			return err
		}
		b.closers = append(b.closers, (*db).Close)
	}
	return nil
}

func (b *benchQueue) ours(ctx context.Context, ran func()) (func(context.Context) error, func() error, error) {
	client, err := redisx.Open(b.redis.URL, redisx.Worker)
	if err != nil {
		return nil, nil, err
	}
	w := worker.New(worker.Options{
		App: b.app, System: b.system, Redis: client, Concurrency: queueWorkers, Log: b.log,
		Handlers: []queue.Handler{noop.Handle(func(context.Context, *queue.Run[nothing]) error {
			ran()
			return nil
		})},
	})
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working) }()
	add := func(ctx context.Context) error {
		return b.app.Tx(ctx, b.org(), func(tx *postgres.Tx) error { return noop.Add(ctx, tx, nothing{}) })
	}
	return add, func() error {
		stop()
		return errors.Join(<-ended, client.Close())
	}, nil
}
