package asynqx

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Version is the version of asynq that this package was read from.
const Version = "v0.26.0"

// queuesKey is the set of all queues that asynq's inspector lists.
const queuesKey = "asynq:queues"

// CancelChannel is the channel on which asynq tells servers to cancel a task.
const CancelChannel = "asynq:cancel"

// Parts of a queue that have a key.
const (
	Pending  = "pending"  // list of tasks that can be taken: new ones on the left, the next one on the right
	Active   = "active"   // list of tasks that servers have
	Lease    = "lease"    // sorted set of the same tasks
	Retry    = "retry"    // sorted set of tasks that wait for their next try
	Archived = "archived" // sorted set
	Paused   = "paused"   // exists while the queue is paused
	// Epoch is not asynq's. It is in the same slot as the queue, so it is lost when the queue is.
	Epoch = "epoch"
	tasks = "t:"
)

// Key returns the key of a part of a queue. The braces make it a hash tag: all keys of a queue are in one slot of a
// Redis Cluster.
func Key[Q ~string](queue Q, part string) string { return "asynq:{" + string(queue) + "}:" + part }

// TaskKey returns the key of the hash of one task.
func TaskKey[Q ~string](queue Q, task string) string { return Key(queue, tasks+task) }

// RegisterQueues adds queues to those that asynq's inspector lists. asynq's own client registers a queue once per
// process, and not again after Redis was emptied.
func RegisterQueues[Q ~string](ctx context.Context, c redis.Cmdable, queues []Q) *redis.IntCmd {
	names := make([]any, len(queues))
	for i, q := range queues {
		names[i] = string(q)
	}
	return c.SAdd(ctx, queuesKey, names...)
}

// SetPaused pauses or resumes a queue. Unlike asynq's inspector it does not fail if the queue is in that state.
func SetPaused[Q ~string](ctx context.Context, c redis.Cmdable, queue Q, paused bool) {
	if paused {
		c.SetNX(ctx, Key(queue, Paused), time.Now().Unix(), 0)
		return
	}
	c.Del(ctx, Key(queue, Paused))
}
