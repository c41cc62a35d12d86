package events

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// spanDays is the number of day partitions that one statement of a feed reads. A statement locks each of its partitions
// with their indexes, and those of a year, in a hundred sessions, are more locks than a server has.
const spanDays = 16

// span is the range of ids from From to before To: those of some days.
type span struct {
	From, To id.ID
}

// feedBegin returns when the feed begins: with the day on which the oldest event of FeedAge may be. To begin within the
// day, in which the order is that of the numbers, a page would read what is before.
func feedBegin(now time.Time) time.Time { return now.Add(-FeedAge).UTC().Truncate(24 * time.Hour) }

// feedSpans returns the days of the feed at a time, oldest first. The newest span includes tomorrow, since the clocks
// that ids are made by differ.
func feedSpans(now time.Time) (all []span) {
	day := now.UTC().Truncate(24 * time.Hour)
	oldest := feedBegin(now)
	for to := day.AddDate(0, 0, 2); to.After(oldest); to = to.AddDate(0, 0, -spanDays) {
		from := to.AddDate(0, 0, -spanDays)
		if from.Before(oldest) {
			from = oldest
		}
		all = append([]span{{id.Floor(from), id.Floor(to)}}, all...)
	}
	return all
}
