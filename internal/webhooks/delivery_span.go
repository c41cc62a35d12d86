package webhooks

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// span is the range of ids from from to before before: the deliveries of some days.
type span struct {
	from, before id.ID
}

// A statement locks each day partition that it reads, with all its indexes, and the time to plan it grows with them. So
// a list reads two days, and then a few at a time, as far as its page needs. A page ends after spansOfPage spans, which
// are more days than deliveries are kept unless an operator keeps them longer.
const (
	daysOfSpan  = 5
	spansOfPage = 9
)

// newestSpans returns the spans of all, newest first, with their number.
func newestSpans(all span) iter.Seq2[int, span] {
	return func(yield func(int, span) bool) {
		upper, days := all.before, 2
		for n := 0; id.Compare(all.from, upper) < 0; n++ {
			// The end is that of a day, or within it.
			day := upper.Time().Add(-time.Millisecond).Truncate(24 * time.Hour)
			from := laterID(all.from, id.Floor(day.AddDate(0, 0, 1-days)))
			if !yield(n, span{from, upper}) {
				return
			}
			upper, days = from, daysOfSpan
		}
	}
}

// late is how many days the removal of old deliveries may be late.
const late = 7

// readSpan returns the ids between which a list with the cursor before reads (zero: from the newest on).
func (f Filter) readSpan(ctx context.Context, tx *postgres.Tx, before id.ID) (all span, err error) {
	var days int
	err = tx.QueryRow(ctx, `SELECT keep_days FROM partitioned WHERE name = 'webhook_delivery'`, nil, &days)
	if err != nil {
		return all, fmt.Errorf("read how long deliveries are kept: %w", err)
	}
	now := time.Now()
	all = span{from: id.Floor(now.AddDate(0, 0, -days-late)), before: id.Floor(now.Add(skew))}
	if !before.IsZero() && id.Compare(before, all.before) < 0 {
		all.before = before
	}
	if to := id.Floor(f.CreatedBefore.Add(skew)); !f.CreatedBefore.IsZero() && id.Compare(to, all.before) < 0 {
		all.before = to
	}
	if !f.CreatedAfter.IsZero() {
		all.from = laterID(all.from, id.Floor(f.CreatedAfter.Add(-skew)))
	}
	return all, nil
}
