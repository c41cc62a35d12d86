package main

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/funnelwork/funnelwork/internal/redisx"
)

func (b *benchQueue) openRiver(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(b.postgres.URL)
	if err != nil {
		return err
	}
	cfg.MaxConns = 2 * queuePool
	if b.riverPool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return err
	}
	b.closers = append(b.closers, b.riverPool.Close)
	if _, err = b.riverPool.Exec(ctx, "CREATE SCHEMA river"); err != nil {
		return err
	}
	m, err := rivermigrate.New(riverpgxv5.New(b.riverPool), &rivermigrate.Config{Schema: "river", Logger: b.log})
	if err == nil {
		_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	return err
}

func (b *benchQueue) plain(_ context.Context, ran func()) (func(context.Context) error, func() error, error) {
	client, err := redisx.Open(b.redis.URL, redisx.Worker)
	if err != nil {
		return nil, nil, err
	}
	server := asynq.NewServerFromRedisClient(client, asynq.Config{
		Concurrency: queueWorkers, Queues: map[string]int{"plain": 1}, TaskCheckInterval: 15 * time.Millisecond,
		LogLevel: asynq.FatalLevel,
	})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		ran()
		return nil
	})); err != nil {
		return nil, nil, err
	}
	to := asynq.NewClientFromRedisClient(client)
	payload := []byte(`{"id":"01a1fe5b-89e6-76f8-8a2f-401f2ba80382","org":"01a1fe5b-8991-7f27-a7cc-342a13b98e11"}`)
	add := func(ctx context.Context) error {
		_, err := to.EnqueueContext(ctx, asynq.NewTask("bench.noop", payload), asynq.Queue("plain"))
		return err
	}
	return add, func() error {
		server.Shutdown()
		return client.Close()
	}, nil
}

// riverArgs is the job of River's turn.
type riverArgs struct{}

// Kind implements river.JobArgs.
func (riverArgs) Kind() string { return "bench_noop" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	ran func()
}

func (w *riverWorker) Work(context.Context, *river.Job[riverArgs]) error {
	w.ran()
	return nil
}

func (b *benchQueue) river(ctx context.Context, ran func()) (func(context.Context) error, func() error, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{ran: ran})
	client, err := river.NewClient(riverpgxv5.New(b.riverPool), &river.Config{
		Schema: "river", Workers: workers, Logger: b.log,
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: queueWorkers}},
		FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 100 * time.Millisecond,
	})
	if err != nil {
		return nil, nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, nil, err
	}
	add := func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, b.riverPool, func(tx pgx.Tx) error {
			_, err := client.InsertTx(ctx, tx, riverArgs{}, nil)
			return err
		})
	}
	return add, func() error { return client.Stop(ctx) }, nil
}
