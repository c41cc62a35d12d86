package asynqx

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// LaneWatch waits for tasks of one queue. It is not safe for concurrent use.
type LaneWatch struct {
	client  redis.UniversalClient
	pending string
	node    *redis.Client // the one with the queue
	conn    *redis.Conn   // nil: none yet, or the last one failed
	id      int64         // of conn, for the server
}

// NewLaneWatch returns a LaneWatch. The caller must call Close.
func NewLaneWatch(c redis.UniversalClient, lane queue.Lane) *LaneWatch {
	return &LaneWatch{client: c, pending: Key(lane, Pending)}
}

// Await returns nil as soon as the queue has a pending task, which it leaves where it is, and redis.Nil after most, or
// when ctx ends. It is one blocking command on a connection of its own, so that another connection can unblock it.
func (w *LaneWatch) Await(ctx context.Context, most time.Duration) error {
	err := w.connect(ctx)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { _ = w.node.ClientUnblock(context.WithoutCancel(ctx), w.id).Err() })
		defer stop()
		err = w.conn.BLMove(ctx, w.pending, w.pending, "right", "right", most).Err()
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		w.Close()
	}
	return err
}

func (w *LaneWatch) connect(ctx context.Context) (err error) {
	if w.conn != nil {
		return nil
	}
	switch c := w.client.(type) {
	case *redis.Client:
		w.node = c
	case *redis.ClusterClient:
		if w.node, err = c.MasterForKey(ctx, w.pending); err != nil {
			return err
		}
	}
	w.conn = w.node.Conn()
	w.id, err = w.conn.ClientID(ctx).Result()
	return err
}

// Close gives the connection back.
func (w *LaneWatch) Close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}
