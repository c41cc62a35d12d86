package backlog

import (
	"context"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// Counter keeps gauges up to date.
type Counter struct {
	Store  *store.Store
	Gauges *Gauges
	Log    *slog.Logger
	// Every is the interval between two counts; 0 means 30 s. A count is bounded: it reads at most some ten thousand
	// rows of each lane and state.
	Every time.Duration
	// After, if not nil, is called with each count.
	After func(context.Context, []store.Backlog)
}

const (
	every = 30 * time.Second
	limit = 5 * time.Second // of one count
)

// Run counts until ctx ends. While Postgres is unavailable the gauges keep their values. It returns nil.
func (c *Counter) Run(ctx context.Context) error {
	interval := c.Every
	if interval == 0 {
		interval = every
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		c.count(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *Counter) count(ctx context.Context) {
	counting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	lanes, err := c.Store.Backlogs(counting)
	if err != nil {
		if ctx.Err() == nil {
			c.Log.WarnContext(ctx, "failed to count the backlog", "error", err)
		}
		return
	}
	c.Gauges.Set(lanes)
	if c.After != nil {
		c.After(ctx, lanes)
	}
}
