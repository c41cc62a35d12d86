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

// Options of a Scheduler.
type Options struct {
	// System is where ticks and their jobs are written. With queue.Pusher's AfterCommit on it a job starts at
	// once, without it the relay brings it within 4 s.
	System  *postgres.DB
	Entries []Entry // nil: Timetable()
	Log     *slog.Logger
	Metrics *Metrics // may be nil
}

// Metrics of the scheduler.
type Metrics struct {
	ticks *prometheus.CounterVec // by entry and result
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{ticks: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "funnelwork_scheduler_ticks_total",
		Help: "Ticks that this process offered: added, or taken (by another scheduler, or before a restart), or failed.",
	}, []string{"entry", "result"})}
	reg.MustRegister(m.ticks)
	return m
}

// Scheduler offers ticks.
type Scheduler struct{ opt Options }

// retry is how soon a tick is offered again that Postgres did not take.
const retry = time.Second

// New makes a scheduler that does nothing until Run.
func New(o Options) *Scheduler {
	if o.Entries == nil {
		o.Entries = Timetable()
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return &Scheduler{o}
}

// Run offers every entry's ticks until ctx ends. It begins with each entry's latest tick, so that one that
// nobody was there for is made up for once; of several that were missed the others are left out. An error means
// that the timetable is wrong; a database that is away is waited for.
func (s *Scheduler) Run(ctx context.Context) error {
	names := map[string]bool{}
	for _, e := range s.opt.Entries {
		switch {
		case names[e.Name]:
			return fmt.Errorf("timetable: %s stands twice", e.Name)
		case e.Every <= 0:
			return fmt.Errorf("timetable: %s has no interval", e.Name)
		}
		names[e.Name] = true
	}
	g := errgroup.Group{}
	for _, e := range s.opt.Entries {
		g.Go(func() error { s.follow(ctx, e); return nil })
	}
	return g.Wait()
}

// follow offers one entry's ticks.
func (s *Scheduler) follow(ctx context.Context, e Entry) {
	var last time.Time
	for ctx.Err() == nil {
		tick := e.tick(time.Now())
		wait := time.Until(tick.Add(e.Every))
		if tick.After(last) {
			added, err := s.Offer(ctx, e, tick)
			switch {
			case err == nil:
				last = tick
				s.opt.Metrics.ticks.WithLabelValues(e.Name, map[bool]string{true: "added", false: "taken"}[added]).Inc()
			case !errors.Is(err, context.Canceled):
				s.opt.Metrics.ticks.WithLabelValues(e.Name, "failed").Inc()
				s.opt.Log.WarnContext(ctx, "tick not offered", "entry", e.Name, "tick", tick, "error", err)
				wait = min(wait, retry)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// Offer makes the tick's job, unless the tick has happened before; it tells whether it did. The dedupe key
// alone could not stop a late scheduler, since a job that is done has no row.
func (s *Scheduler) Offer(ctx context.Context, e Entry, tick time.Time) (added bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err = s.opt.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		n, err := tx.Exec(ctx, "INSERT INTO tick (entry, tick) VALUES ($1, $2) ON CONFLICT DO NOTHING", e.Name, tick)
		if err != nil || n == 0 {
			return err
		}
		added = true
		return e.Add(ctx, tx, queue.Dedupe(e.key(tick)))
	})
	return added && err == nil, err
}
