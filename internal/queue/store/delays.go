package store

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// clockSlack is how far ahead of now() a time of the past may be: it was taken by another transaction.
const clockSlack = 2 * time.Second

// endDelaysSQL shortens delays that were set after now() - $1. Those that were set in the future begin anew: Postgres's
// clock was set back since. The others end, since they may follow from a time that was stamped before. What it
// has shortened is set to have begun earlier, so that no call that follows ends it.
const endDelaysSQL = `
WITH late AS MATERIALIZED (
	SELECT ctid AS at FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at > now()
		AND delayed_at > now() - $1::interval
	LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET delayed_at = now() - greatest($1::interval, interval '0') - interval '1 minute',
	run_at = CASE WHEN delayed_at > now() THEN now() + (run_at - delayed_at) ELSE now() END
FROM late WHERE job.ctid = late.at`

// endHoldsSQL does the same for circuits and full lanes, which end: a job that runs early finds out whether its key is
// to be held.
const (
	endHoldsSQL = `
UPDATE job_line SET held_until = now() FROM (
	SELECT ctid AS at FROM job_line WHERE held_until > now() AND held_at > now() - $1::interval
	LIMIT $2 FOR UPDATE SKIP LOCKED
) late WHERE job_line.ctid = late.at`
	endFullSQL = `
UPDATE job_lane SET full_until = now() FROM (
	SELECT ctid AS at FROM job_lane WHERE full_until > now() + interval '1 minute' LIMIT $2 FOR UPDATE SKIP LOCKED
) late WHERE job_lane.ctid = late.at AND $1::interval IS NOT NULL`
)

// endBatch is how many rows a transaction of EndDelays changes.
const endBatch = 5000

// EndDelays shortens what waits longer than its delay because Postgres's clock was set back: retries, snoozes and
// pauses get their delay again, from now on, and circuits end. Times that were asked for with queue.At stay. setBack is
// how long ago the clock was set back at most, or 0 if that is not known; delays that were set since then end.
// EndDelays returns the number of rows by table.
func (s *Store) EndDelays(ctx context.Context, setBack time.Duration) (map[string]int64, error) {
	if setBack == 0 {
		setBack = -clockSlack
	}
	ended := map[string]int64{}
	for _, of := range []struct{ table, sql string }{
		{"job", endDelaysSQL}, {"job_line", endHoldsSQL}, {"job_lane", endFullSQL},
	} {
		for n := int64(endBatch); n == endBatch; {
			err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
				tx.Queue(ByKeySQL)
				n, err = tx.Exec(ctx, of.sql, setBack, endBatch)
				return err
			})
			if err != nil {
				return ended, fmt.Errorf("end delays of %s: %w", of.table, err)
			}
			if n > 0 {
				ended[of.table] += n
			}
		}
	}
	return ended, nil
}
