package events

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Feed returns at most limit events of the org after seq (0: from the oldest of the last 30 days), in the order of seq.
// If types is not empty, it returns only events of these types.
//
// A reader that continues from the last seq it saw misses no event: Feed holds back the events of open transactions and
// all later events until those transactions end, so no lower seq can appear after a higher one was returned. Open
// transactions that are not ours hold events back for half a second: see HorizonPublisher.
func Feed(ctx context.Context, tx *postgres.Tx, after int64, types []string, limit int) ([]*Stored, error) {
	var all []*Stored
	for {
		p, err := FeedPage(ctx, tx, after, types, limit-len(all))
		if err != nil {
			return nil, err
		}
		if all = append(all, p.Events...); !p.More || len(all) == limit {
			return all, nil
		}
		after = p.Seen
	}
}

// Newest returns the seq up to which the feed is final: Feed after it returns exactly the events that become visible
// from now on.
func Newest(ctx context.Context, tx *postgres.Tx) (seq int64, err error) {
	if err := tx.QueryRow(ctx, `SELECT event_horizon() - 1`, nil, &seq); err != nil {
		return 0, fmt.Errorf("read the feed's horizon: %w", err)
	}
	return seq, nil
}

// Keeps reports whether the org's feed still reaches back to seq. If it does not, a reader that has seen the events up
// to seq may have missed some that the feed no longer has.
func Keeps(ctx context.Context, tx *postgres.Tx, seq int64) (kept bool, err error) {
	for _, s := range feedSpans(time.Now()) {
		tx.Queue(postgres.PlanByDay)
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM event
			WHERE org_id = $1 AND seq <= $2 AND id >= $3 AND id < $4)`, []any{tx.Org(), seq, s.From, s.To}, &kept)
		if err != nil {
			return false, fmt.Errorf("read the feed's beginning: %w", err)
		}
		if kept {
			return true, nil
		}
	}
	return false, nil
}

// Get returns an event that is in the feed, or will be, or fault.NotFound.
func Get(ctx context.Context, tx *postgres.Tx, event id.ID) (*Stored, error) {
	s := &Stored{OrgID: tx.Org()}
	tx.Queue(postgres.PlanByDay)
	err := tx.QueryRow(ctx, feedColumns+` FROM event WHERE org_id = $1 AND id = $2
		AND id >= $3`, []any{tx.Org(), event, id.Floor(feedBegin(time.Now()))},
		&s.ID, &s.Seq, &s.Type, &s.ActorType, &s.ActorID, &s.RequestID, &s.Data, &s.CreatedAt)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "There is no such event, or it is older than 30 days.")
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	return s, nil
}
