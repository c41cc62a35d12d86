package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Options configures a Scheduler.
type Options struct {
	// System is the database for ticks and their jobs. With queue.CommitEnqueuer's AfterCommit on it a job starts at
	// once; without it the relay enqueues the job within 4 s.
	System  *postgres.DB
	Entries []Entry // nil: Timetable()
	Log     *slog.Logger
	Metrics *Metrics // may be nil
}

// Metrics of the scheduler.
type Metrics struct {
	ticks *prometheus.CounterVec // by entry and result
}

// NewMetrics returns metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{ticks: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "funnelwork_scheduler_ticks_total",
		Help: "Ticks that this process saw: added, or taken (by another scheduler, or before a restart), or " +
			"failed, or left_out (missed and not made up for).",
	}, []string{"entry", "result"})}
	reg.MustRegister(m.ticks)
	return m
}

// Scheduler offers ticks.
type Scheduler struct{ opt Options }

const (
	// retry is the delay before a tick is offered again after an error of Postgres.
	retry = time.Second
	// longest is the longest wait for a tick. Meanwhile nothing notices that Postgres's clock is set.
	longest = time.Minute
	// setBackBy is by how much Postgres's clock must be set back to be noticed.
	setBackBy = 2 * time.Second
	// ahead is how far in the future a tick must lie to be removed. Processes of earlier releases offer ticks by their
	// own clocks.
	ahead = time.Minute
)

// New returns a scheduler that does nothing until Run.
func New(o Options) *Scheduler {
	if o.Entries == nil {
		o.Entries = Timetable()
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return &Scheduler{o}
}

// Run offers every entry's ticks until ctx ends. It starts after the latest tick that has happened and handles missed
// ticks by the entry's policy. It returns an error only if the timetable is invalid. While the database is unavailable
// it waits.
func (s *Scheduler) Run(ctx context.Context) error {
	names := map[string]bool{}
	for _, e := range s.opt.Entries {
		switch {
		case names[e.Name]:
			return fmt.Errorf("timetable: %s is listed twice", e.Name)
		case e.Every <= 0:
			return fmt.Errorf("timetable: %s has no interval", e.Name)
		case e.Missed != One && e.Missed != Skip && e.Missed != All:
			return fmt.Errorf("timetable: %s has no policy for missed ticks", e.Name)
		}
		names[e.Name] = true
	}

	g := errgroup.Group{}
	for _, e := range s.opt.Entries {
		g.Go(func() error {
			s.followEntry(ctx, e)
			return nil
		})
	}

	return g.Wait()
}

// followEntry offers one entry's ticks.
func (s *Scheduler) followEntry(ctx context.Context, e Entry) {
	var last time.Time
	known := false
	for ctx.Err() == nil {
		began := time.Now()
		now, err := s.postgresNow(ctx)
		if known && err == nil {
			known = !last.After(now.Add(setBackBy))
		}
		if !known && err == nil {
			last, err = s.readLatest(ctx, e, now)
			known = err == nil
		}
		if err == nil {
			last, err = s.catchUp(ctx, e, last, now)
		}
		wait := min(e.tickAt(now).Add(e.Every).Sub(now)-time.Since(began), longest)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.opt.Metrics.ticks.WithLabelValues(e.Name, "failed").Inc()
			s.opt.Log.WarnContext(ctx, "tick not offered", "entry", e.Name, "tick", e.tickAt(now), "error", err)
			wait = retry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// catchUp offers the ticks due at now, oldest first, and returns the latest tick that is finished. After an error the
// remaining ticks wait for the next call. No tick is offered before an earlier one, so under All the latest row of an
// entry proves that all earlier ticks exist.
func (s *Scheduler) catchUp(ctx context.Context, e Entry, last, now time.Time) (_ time.Time, err error) {
	ticks, left := e.dueTicks(last, now)
	if left > 0 {
		s.opt.Metrics.ticks.WithLabelValues(e.Name, "left_out").Add(float64(left))
		s.opt.Log.WarnContext(ctx, "missed ticks left out", "entry", e.Name, "policy", e.Missed.String(),
			"ticks", left, "after", last)
		last = e.tickAt(now).Add(-time.Duration(len(ticks)) * e.Every)
	}
	if last.IsZero() && len(ticks) == 1 {
		if last, err = s.offerFirst(ctx, e, ticks[0]); err != nil || !last.Before(ticks[0]) {
			return last, err
		}
		return s.catchUp(ctx, e, last, now)
	}

	for _, tick := range ticks {
		added, err := s.Offer(ctx, e, tick)
		if err != nil {
			return last, err
		}
		last = tick
		s.countTick(e, added)
	}

	return last, nil
}

func (s *Scheduler) countTick(e Entry, added bool) {
	s.opt.Metrics.ticks.WithLabelValues(e.Name, map[bool]string{true: "added", false: "taken"}[added]).Inc()
}

// offerFirst offers the first tick of an entry that had none when it was read, and returns the latest tick that has
// happened by then. A lock serializes schedulers that start together. Otherwise each would offer its own first tick,
// and if one died, ticks between its first and another scheduler's could be left out.
func (s *Scheduler) offerFirst(ctx context.Context, e Entry, tick time.Time) (last time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	added := false
	err = s.opt.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("SELECT pg_advisory_xact_lock(hashtextextended('tick ' || $1, 0))", e.Name)
		if last, err = latestTick(ctx, tx, e); err != nil || !last.IsZero() {
			return err
		}
		last = tick
		added, err = offerTick(ctx, tx, e, tick)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}

	s.countTick(e, added)
	return last, nil
}

// patience is the timeout of a transaction.
const patience = 10 * time.Second

// postgresNow returns the time by Postgres's clock.
func (s *Scheduler) postgresNow(ctx context.Context) (now time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.opt.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT clock_timestamp()", nil, &now)
	})
	return now.UTC(), err
}

// readLatest returns the entry's latest tick that has happened at now, or zero if there is none. It removes ticks in
// the future, which a clock ahead has made: they prove nothing about earlier ticks, and happen again when their time
// comes.
func (s *Scheduler) readLatest(ctx context.Context, e Entry, now time.Time) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.opt.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("DELETE FROM tick WHERE entry = $1 AND tick > $2", e.Name, now.Add(ahead))
		at, err = latestTick(ctx, tx, e)
		return err
	})
	return at, err
}

func latestTick(ctx context.Context, tx *postgres.Tx, e Entry) (at time.Time, err error) {
	err = tx.QueryRow(ctx, "SELECT tick FROM tick WHERE entry = $1 AND tick <= clock_timestamp() "+
		"ORDER BY tick DESC LIMIT 1", []any{e.Name}, &at)
	if postgres.None(err) {
		return time.Time{}, nil
	}
	return at.UTC(), err
}

// Offer adds the tick's job unless the tick has already happened, and reports whether it added the job. The dedupe key
// alone could not stop a late scheduler, because a finished job has no row.
func (s *Scheduler) Offer(ctx context.Context, e Entry, tick time.Time) (added bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.opt.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		added, err = offerTick(ctx, tx, e, tick)
		return err
	})
	return added && err == nil, err
}

func offerTick(ctx context.Context, tx *postgres.Tx, e Entry, tick time.Time) (added bool, err error) {
	n, err := tx.Exec(ctx, "INSERT INTO tick (entry, tick) VALUES ($1, $2) ON CONFLICT DO NOTHING", e.Name, tick)
	if err != nil || n == 0 {
		return false, err
	}
	return true, e.Add(ctx, tx, queue.Dedupe(e.dedupeKey(tick)))
}
