package tail

import (
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/events"
)

// Reader reads one org's events from a position on, in the order of the feed, without a gap. It is used by one
// goroutine at a time.
type Reader struct {
	follower *Follower
	feed     *feed
	types    []string // sorted; none: all
	at       int64    // every matching event up to this seq was returned
}

// Next returns the next events, or none and a channel that is closed when there may be more. It does not wait for
// events. It queries the database only if the reader is further behind than the feed's memory reaches.
func (r *Reader) Next(ctx context.Context) (page []*events.Stored, more <-chan struct{}, err error) {
	for {
		page, more, floor, ok := r.feed.after(r.at)
		if !ok {
			page, err := r.behind(ctx, floor)
			if err != nil {
				return nil, nil, err
			}
			if len(page) > 0 {
				return page, nil, nil
			}
			continue
		}
		if len(page) == 0 {
			return nil, more, nil
		}
		r.at = page[len(page)-1].Seq
		if page = r.matching(page); len(page) > 0 {
			return page, nil, nil
		}
	}
}

// behind returns the next page from the database. Everything up to floor was visible before the query, so that a page
// that is not full contains all of it.
func (r *Reader) behind(ctx context.Context, floor int64) ([]*events.Stored, error) {
	page, err := r.feed.read(ctx, r.at, r.types)
	if err != nil {
		return nil, err
	}
	if len(page) > 0 {
		r.at = page[len(page)-1].Seq
	}
	if len(page) < pageEvents {
		r.at = max(r.at, floor)
	}
	return page, nil
}

// matching returns the events of the reader's types.
func (r *Reader) matching(page []*events.Stored) []*events.Stored {
	if len(r.types) == 0 {
		return page
	}
	return slices.DeleteFunc(page, func(e *events.Stored) bool {
		_, found := slices.BinarySearch(r.types, e.Type)
		return !found
	})
}

// Close ends the reader.
func (r *Reader) Close() { r.follower.leave(r.feed) }
