package feed

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// ripe is how many jobs one call of Waiting marks as due.
const ripe = 1000

// never is how long until the next delayed job if there is none.
const never = time.Hour

// Waiting returns the lanes in which jobs wait for a slot, and how long until the next delayed job is due, at most an
// hour. It also marks jobs as due when their time has come. It costs one index probe per lane, and one for the delayed
// jobs.
func (f *Feeder) Waiting(ctx context.Context) (lanes []queue.Lane, next time.Duration, err error) {
	next = never
	err = f.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(store.InOrderSQL + store.OnePlanSQL)
		tx.Queue(ripenSQL, ripe/2)
		tx.Queue(waitingSQL, queue.LaneNames()).Query(func(rows pgx.Rows) error {
			var lane queue.Lane
			var later float64
			_, err := pgx.ForEachRow(rows, []any{&lane, &later}, func() error {
				if lane != "" {
					lanes = append(lanes, lane)
				} else {
					next = time.Duration(min(later, never.Seconds()) * float64(time.Second))
				}
				return nil
			})
			return err
		})
		return nil
	})
	return lanes, next, err
}

// Full marks a lane as full in Redis for d. Meanwhile T1 enqueues no jobs of the lane.
func (f *Feeder) Full(ctx context.Context, lane queue.Lane, d time.Duration) error {
	return f.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO job_lane (lane, full_until) VALUES ($1, now() + $2::interval) ON CONFLICT (lane) DO "+
			"UPDATE SET full_until = excluded.full_until", string(lane), d)
		return nil
	})
}
