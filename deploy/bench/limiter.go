package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/redisx"
)

// subjects is so large that every request is admitted: a refusal would be cheaper for both limiters.
const subjects = 20_000

// limiter compares a decision with one of redis_rate, with the same client settings and one private redis-server.
// redis_rate stores one number per key and does not implement the product's rule; it is the usual alternative.
func limiter(ctx context.Context, log *slog.Logger) error {
	server, err := local.StartRedis(ctx, local.RedisOptions{Log: log})
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop(context.WithoutCancel(ctx)) }()
	if server.InProcess {
		return errors.New(
			"an installed redis-server is required: the in-process Redis is not suitable for benchmarks")
	}
	peerClient, err := redisx.Open(server.URL, redisx.Request)
	if err != nil {
		return err
	}
	defer func() { _ = peerClient.Close() }()
	ourClient, err := redisx.Open(server.URL, redisx.Request)
	if err != nil {
		return err
	}
	defer func() { _ = ourClient.Close() }()
	peer := redis_rate.NewLimiter(peerClient)
	ours := limits.New(limits.Options{Redis: ourClient, Log: log})
	defer ours.Close() // it bounds itself

	names := make([]string, subjects)
	for i := range names {
		names[i] = "org-" + strconv.Itoa(i)
	}
	var next, alone, all atomic.Int64
	cs := []contender{
		{name: "redis_rate v10", op: func(ctx context.Context, _ int) error {
			_, err := peer.Allow(ctx, names[next.Add(1)%subjects],
				redis_rate.Limit{Rate: 100, Burst: 200, Period: time.Minute})
			return err
		}},
		{name: "ours", op: func(ctx context.Context, _ int) error {
			d := ours.Take(ctx, names[next.Add(1)%subjects], limits.Default)
			if all.Add(1); d.Degraded {
				alone.Add(1)
			}
			if !d.Allowed {
				return errors.New("a decision that should admit was a refusal")
			}
			return nil
		}},
		{name: "PING", op: func(ctx context.Context, _ int) error { return ourClient.Ping(ctx).Err() }},
	}
	for _, workers := range []int{1, 16, 64} {
		results, err := match(ctx, cs, workers, 9, 300*time.Millisecond)
		if err != nil {
			return err
		}
		got := table(os.Stdout,
			fmt.Sprintf("decisions per second, %d at once, %d subjects, all admitted", workers, subjects), cs, results)
		verdict(os.Stdout, fmt.Sprintf("at least 0.75 of redis_rate's decisions at %d", workers), got[1].mid >= .75,
			got[1].String())
	}
	for _, c := range cs[:2] {
		took, err := scriptTime(ctx, peerClient, c)
		if err != nil {
			return err
		}
		fmt.Printf("in Redis, the script of %s: %.1f us of processor a decision, 16 at once\n", c.name, took)
	}
	if n := alone.Load(); n*200 > all.Load() {
		return fmt.Errorf("%d of %d decisions were made without Redis, which did not reply within 50 ms: the "+
			"figures above are invalid", n, all.Load())
	}
	return flood(ctx, ours, peer)
}

// scriptTime returns the microseconds that one call of c's script takes in Redis.
func scriptTime(ctx context.Context, client redis.UniversalClient, c contender) (us float64, err error) {
	if err := client.ConfigResetStat(ctx).Err(); err != nil {
		return 0, err
	}
	if _, err := match(ctx, []contender{c}, 16, 3, 300*time.Millisecond); err != nil {
		return 0, err
	}
	stats, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(stats, "cmdstat_evalsha:")
	_, line, _ = strings.Cut(line, "usec_per_call=")
	line, _, _ = strings.Cut(line, ",")
	return strconv.ParseFloat(line, 64)
}

// flood measures refusals: one subject far above its limit, with the refusal cached in the process.
func flood(ctx context.Context, ours *limits.Limiter, peer *redis_rate.Limiter) error {
	cs := []contender{
		{name: "redis_rate v10", op: func(ctx context.Context, _ int) error {
			_, err := peer.Allow(ctx, "flood", redis_rate.Limit{Rate: 100, Burst: 200, Period: time.Minute})
			return err
		}},
		{name: "ours", op: func(ctx context.Context, _ int) error {
			ours.Take(ctx, "flood", limits.Default)
			return nil
		}},
	}
	results, err := match(ctx, cs, 16, 5, 200*time.Millisecond)
	if err != nil {
		return err
	}
	table(os.Stdout, "decisions per second, 16 at once, one subject, nearly all refused", cs, results)
	return nil
}
