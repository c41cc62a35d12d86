package redisx

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// Watch's interval and its timeout for all replies.
const (
	watchEvery = 3 * time.Second
	watchWait  = 3 * time.Second
)

// Watch pings Redis until ctx ends, in a cluster each of its masters. It logs an outage once: when it begins and, after
// two consecutive successes, when it ends. Each process runs one Watch; other code that continues without Redis need
// not log that.
func Watch(ctx context.Context, client redis.UniversalClient, log *slog.Logger) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()

	away := false
	good := 0
	began := time.Time{}
	for {
		err := pingAll(ctx, client)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			good = 0
			if !away {
				away = true
				began = time.Now()
				log.WarnContext(ctx, "redis is away", "error", err)
			}
		case away:
			if good++; good == 2 {
				away = false
				log.InfoContext(ctx, "redis answers again", "after", time.Since(began).Round(time.Millisecond))
			}
		}

		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// pingAll pings Redis once.
func pingAll(ctx context.Context, client redis.UniversalClient) error {
	ctx, cancel := context.WithTimeout(ctx, watchWait)
	defer cancel()

	cluster, is := client.(*redis.ClusterClient)
	if !is {
		return client.Ping(ctx).Err()
	}

	// This reloads the slot map, so that a process without commands follows a failover too.
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		if err := master.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("node %s: %w", master.Options().Addr, err)
		}
		return nil
	})
}
