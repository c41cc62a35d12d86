package tail

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// pollEvery is the interval between two polls of a feed. An event reaches its readers after half of it on average.
const pollEvery = 500 * time.Millisecond

// Follower polls the feeds that have readers. It is safe for concurrent use. A feed without readers costs nothing.
type Follower struct {
	db    *postgres.DB
	log   *slog.Logger
	every time.Duration

	mu    sync.Mutex
	feeds map[id.ID]*feed
}

// New returns a Follower that reads the feeds from db.
func New(db *postgres.DB, log *slog.Logger) *Follower {
	return &Follower{db: db, log: log, every: pollEvery, feeds: map[id.ID]*feed{}}
}

// Position is where a reader begins.
type Position struct {
	After int64 // seq of the last event that the reader has seen; 0: the beginning of the feed
	// Known is false if the reader has seen no event. It then begins after the newest one, and After is ignored.
	Known bool
}

// Follow returns a reader of an org's events after a position, of the types if there are any. The caller must close it.
// gap reports that the position is older than the feed: events between the two are lost to this reader.
func (f *Follower) Follow(ctx context.Context, org id.ID, from Position, types []string) (r *Reader, gap bool,
	err error,
) {
	var newest int64
	err = f.db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		if newest, err = events.Newest(ctx, tx); err != nil || !from.Known || from.After == 0 {
			return err
		}
		kept, err := events.Keeps(ctx, tx, from.After)
		gap = !kept
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the feed's end: %w", err)
	}
	if !from.Known {
		from.After = newest
	}
	joined := f.join(org, newest) //nolint:contextcheck // its poll outlives ctx
	return &Reader{follower: f, feed: joined, types: types, at: from.After}, gap, nil
}

// join returns the org's feed with one more reader. It begins to poll if this is the first, after the event newest.
func (f *Follower) join(org id.ID, newest int64) *feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.feeds[org]
	if one == nil {
		ctx, stop := context.WithCancel(context.Background())
		one = newFeed(f, org, newest)
		one.stop = stop
		f.feeds[org] = one
		go one.poll(ctx)
	}
	one.readers++
	return one
}

// Feeds returns the number of feeds that are polled.
func (f *Follower) Feeds() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.feeds)
}

// leave removes a reader from its feed. With the last one the polls end.
func (f *Follower) leave(one *feed) {
	f.mu.Lock()
	one.readers--
	last := one.readers == 0
	if last {
		delete(f.feeds, one.org)
	}
	f.mu.Unlock()
	if last {
		one.stop()
		<-one.stopped
	}
}
