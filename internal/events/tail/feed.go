package tail

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Bounds of what a feed keeps in memory for all its readers. Events beyond them are read from the database, where a
// purged contact's events are gone.
const (
	keptEvents = 500
	keptBytes  = 2 << 20
	keptTime   = 10 * time.Second
	pageEvents = 100 // per query
)

// feed is the newest part of one org's feed, in memory.
type feed struct {
	follower *Follower
	org      id.ID
	readers  int // guarded by the follower
	stop     context.CancelFunc
	stopped  chan struct{}

	mu      sync.Mutex
	recent  []kept // every event after floor, by seq
	bytes   int    // of recent
	floor   int64
	changed chan struct{} // closed when recent grows
}

// kept is an event in memory.
type kept struct {
	*events.Stored
	since time.Time
}

func newFeed(f *Follower, org id.ID, newest int64) *feed {
	return &feed{
		follower: f, org: org, floor: newest, changed: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// poll reads the feed until ctx ends.
func (f *feed) poll(ctx context.Context) {
	defer close(f.stopped)
	top, away := f.floor, false
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		rows, err := f.read(ctx, top, nil)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !away {
			f.follower.log.WarnContext(ctx, "poll of a feed failed", "org_id", f.org.String(), "error", err)
		}
		away = err != nil
		wait := f.follower.every
		if len(rows) > 0 {
			top = rows[len(rows)-1].Seq
		}
		f.keep(rows, time.Now())
		if len(rows) == pageEvents {
			wait = 0
		}
		timer.Reset(wait)
	}
}

// pollTime is the timeout of one query.
const pollTime = 10 * time.Second

// read returns a page of the events after a seq.
func (f *feed) read(ctx context.Context, after int64, types []string) (rows []*events.Stored, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	err = f.follower.db.ReadTx(ctx, f.org, func(tx *postgres.Tx) error {
		rows, err = events.Feed(ctx, tx, after, types, pageEvents)
		return err
	})
	return rows, err
}

// keep appends new events, drops the oldest ones beyond the bounds, and wakes the readers if there are new events.
func (f *feed) keep(rows []*events.Stored, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range rows {
		f.recent = append(f.recent, kept{e, now})
		f.bytes += len(e.Data)
	}
	for len(f.recent) > 0 && (len(f.recent) > keptEvents || f.bytes > keptBytes ||
		now.Sub(f.recent[0].since) > keptTime) {
		f.floor = f.recent[0].Seq
		f.bytes -= len(f.recent[0].Data)
		f.recent[0] = kept{}
		f.recent = f.recent[1:]
	}
	if len(rows) > 0 {
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// after returns at most a page of the events after a seq from memory, and a channel that is closed when there are more
// than now. If memory does not reach back to seq, it returns the floor above which it does, and ok is false.
func (f *feed) after(seq int64) (page []*events.Stored, more <-chan struct{}, floor int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq < f.floor {
		return nil, nil, f.floor, false
	}
	i := sort.Search(len(f.recent), func(i int) bool { return f.recent[i].Seq > seq })
	for _, e := range f.recent[i:min(len(f.recent), i+pageEvents)] {
		page = append(page, e.Stored)
	}
	return page, f.changed, f.floor, true
}
