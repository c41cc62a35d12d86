package redisx

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Limits of a cluster's client.
const (
	// reloadEvery is the maximum age of the slot map. go-redis's own 60 s are long for a change that causes no error.
	reloadEvery = 10 * time.Second
	// A node that is silently gone must not hold up the reload of the map, which asks the nodes one after the other.
	nodeDial, nodeAnswer = time.Second, 3 * time.Second
)

// newCluster returns a client that reloads the slot map after an error that may mean a lost node. go-redis does so only
// when a live node responds with MOVED or READONLY; commands for a lost node fail until the next reload
// (redis/go-redis#3979, open in v9.23.0).
func newCluster(o *redis.ClusterOptions) *redis.ClusterClient {
	o.ClusterStateReloadInterval = reloadEvery
	for d, is := range map[*time.Duration]time.Duration{
		&o.DialTimeout: nodeDial, &o.ReadTimeout: nodeAnswer,
		&o.WriteTimeout: nodeAnswer,
	} {
		if *d == 0 {
			*d = is
		}
	}

	if o.DialerRetries == 0 {
		o.DialerRetries = 2
	}

	c := redis.NewClusterClient(o)
	c.AddHook(reload{c})

	return c
}

// reload is a hook that reloads the slot map.
type reload struct{ client *redis.ClusterClient }

// DialHook returns next unchanged.
func (reload) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook reloads the slot map after an error.
func (r reload) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		r.reloadAfter(ctx, err)
		return err
	}
}

// ProcessPipelineHook reloads the slot map after an error in a pipeline.
func (r reload) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if lost := cmd.Err(); isSilent(lost) {
				r.reloadAfter(ctx, lost)
				break
			}
		}

		return err
	}
}

func (r reload) reloadAfter(ctx context.Context, err error) {
	if isSilent(err) {
		r.client.ReloadState(ctx) // in the background, once for concurrent calls
	}
}

// isSilent reports whether err is neither a node's reply nor caused by the caller.
func isSilent(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, redis.ErrClosed) {
		return false
	}
	_, answered := errors.AsType[redis.Error](err)
	return !answered
}
