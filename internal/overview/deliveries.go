package overview

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// retried is the number of days, before today, in which a delivery may still be attempted.
const retried = 5

// lateCommit is how long after its id was made a delivery may become visible.
const lateCommit = time.Hour

// ended is what a count has not to read again: each delivery with an id below before has ended. delivered and failed
// are how many of these are of before's day.
type ended struct {
	before            id.ID
	delivered, failed int64
}

// alreadyEnded returns the deliveries that need not be counted again. A count of all days counts each day whole in
// which a delivery may have changed. The count after Recount begins where that has said.
func (s *state) alreadyEnded() ended {
	days := ended{before: id.Floor(s.now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -retried))}
	switch {
	case s.ended == nil || id.Compare(*s.ended, id.Floor(s.now)) > 0: // the clock was set back
		return days
	case s.never:
		return ended{before: *s.ended}
	case s.whole || id.Compare(*s.ended, days.before) < 0:
		return days
	default:
		return ended{before: *s.ended, delivered: s.delivered, failed: s.failed}
	}
}

// jobsAtOnce is the maximum number of jobs among which a count looks for those of deliveries.
const jobsAtOnce = 200

// openSQL returns the oldest delivery from $2 on that has a job, if it is among the first $4 jobs of the org, and the
// last one of these jobs if there are as many. A delivery has a job until it has ended.
const openSQL = `
WITH first AS MATERIALIZED (SELECT id, kind FROM job WHERE org_id = $1 AND id >= $2 ORDER BY id LIMIT $4)
SELECT (SELECT id FROM first WHERE kind = $3 ORDER BY id LIMIT 1), (SELECT id FROM first ORDER BY id OFFSET $4 - 1)`

// deliveriesSQL counts the deliveries from $2 to before $3, delivered and failed, and those of them before $4. It is
// planned for the partition of that day alone.
const deliveriesSQL = `
SELECT count(*) FILTER (WHERE status = 'delivered'), count(*) FILTER (WHERE status IN ('failed', 'exhausted')),
	count(*) FILTER (WHERE status = 'delivered' AND id < $4),
	count(*) FILTER (WHERE status IN ('failed', 'exhausted') AND id < $4)
FROM webhook_delivery WHERE org_id = $1 AND id >= $2 AND id < $3`

// countDeliveries queues the counts of the deliveries of the days in which one may have changed since was, and of
// today. It reads only those from was on. Other days keep their counts when their deliveries are removed.
//
// What is open is read before the deliveries are: one that ends between the two is counted as it is then, and again by
// the next count. Days before yesterday are counted every ten minutes only.
func (s *state) countDeliveries(ctx context.Context, tx *postgres.Tx, was ended) error {
	yesterday := id.Floor(s.now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1))
	if id.Compare(was.before, yesterday) < 0 && !s.whole && !s.late {
		_, err := countDays(ctx, tx, s.now, ended{before: yesterday}, yesterday)
		return err
	}

	var open, last *id.ID
	args := []any{tx.Org(), was.before, events.DeliverKind, jobsAtOnce}
	if err := tx.QueryRow(ctx, openSQL, args, &open, &last); err != nil {
		return err
	}

	before := id.Floor(s.now.Add(-lateCommit))
	for _, bound := range []*id.ID{open, last} {
		if bound != nil && id.Compare(*bound, before) < 0 {
			before = *bound
		}
	}

	if id.Compare(before, was.before) < 0 {
		before = was.before
	}

	next, err := countDays(ctx, tx, s.now, was, before)
	if err != nil {
		return err
	}

	tx.Queue(`UPDATE overview_state SET ended_before = $2, ended_deliveries = $3, ended_failures = $4
		WHERE org_id = $1`, tx.Org(), before, next.delivered, next.failed)

	return nil
}

// countDays queues the counts of the days from that of was to that of now. It returns the deliveries with an id below
// before, which is not below was.
func countDays(ctx context.Context, tx *postgres.Tx, now time.Time, was ended, before id.ID) (next ended, err error) {
	next.before = before
	days := daysFrom(was.before.Time().UTC().Truncate(24*time.Hour), now)
	delivered := make([]int64, len(days))
	failed := make([]int64, len(days))
	for i, day := range days {
		from := id.Floor(day)
		to := id.Floor(day.AddDate(0, 0, 1))
		if i == 0 {
			from = was.before
		}

		holds := id.Compare(before, id.Floor(day)) >= 0 && id.Compare(before, to) < 0 // the day of before
		tx.Queue(deliveriesSQL, tx.Org(), from, to, before).QueryRow(func(row pgx.Row) error {
			var n ended
			if err := row.Scan(&delivered[i], &failed[i], &n.delivered, &n.failed); err != nil {
				return err
			}
			if i == 0 {
				delivered[i] += was.delivered
				failed[i] += was.failed
				n.delivered += was.delivered
				n.failed += was.failed
			}
			if holds {
				next.delivered = n.delivered
				next.failed = n.failed
			}

			return nil
		})
	}

	if err := tx.Flush(ctx); err != nil {
		return ended{}, err
	}

	tx.Queue(`INSERT INTO day_count (org_id, day, deliveries, delivery_failures)
		SELECT $1, d.* FROM unnest($2::date[], $3::bigint[], $4::bigint[]) AS d
		ON CONFLICT (org_id, day) DO UPDATE
		SET deliveries = excluded.deliveries, delivery_failures = excluded.delivery_failures
		WHERE (day_count.deliveries, day_count.delivery_failures)
			IS DISTINCT FROM (excluded.deliveries, excluded.delivery_failures)`, tx.Org(), days, delivered, failed)

	return next, nil
}

// daysFrom returns the days from first to the one of now, in UTC.
func daysFrom(first, now time.Time) (days []time.Time) {
	for day := first; !day.After(now); day = day.AddDate(0, 0, 1) {
		days = append(days, day)
	}
	return days
}
