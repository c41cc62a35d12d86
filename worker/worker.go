package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Options of a Worker. App, System, Redis and Log must be set.
type Options struct {
	App, System *postgres.DB
	// Redis is the worker's own client, with go-redis's retries: asynq's loop spins on a client that gives up
	// at once. It gets hooks that act on asynq's commands. The caller closes it.
	Redis    redis.UniversalClient
	Handlers []queue.Handler
	Hooks    queue.Hooks // what the kinds do when a job ends without a run
	// Concurrency is how many jobs run at once in this process; 0 means 20. The lane of webhooks has eight slots
	// of its own for each, at least 160 and at most 800, so that slow receivers hold up nothing else.
	Concurrency int
	// Grace is how long runs may go on after Run's context ended; 0 means 25 s.
	Grace   time.Duration
	Log     *slog.Logger
	Metrics *Metrics // may be nil
	// Watches look for work that nobody asks for, and add its jobs: each is called again and again, Timing.Watch apart.
	// Several workers may look at once.
	Watches []func(context.Context) error
	// Timing replaces the protocol's waits where it is not zero; for tests.
	Timing Timing
}

// Timing is what the protocol waits for. Zero fields are the protocol's own.
type Timing struct {
	Lease  time.Duration // 20 s: until a silent run has lost its job, and between two looks at a row
	First  time.Duration // 3 s: until the first look after a push
	Extend time.Duration // 5 s: between two extensions
	Guard  time.Duration // 15 s: a run ends this long after its last extension
	Look   time.Duration // 750 ms: between two scans of the relay, so that a look and a scan stay within 21 s
	Feed   time.Duration // 75 ms: between two rounds of the feeder
	Sweep  time.Duration // 1 h: between two sweeps of what asynq lists as archived
	Watch  time.Duration // 250 ms: between two looks of a watch
}

func (t Timing) filled() Timing {
	for _, f := range []struct {
		field *time.Duration
		is    time.Duration
	}{
		{&t.Lease, queue.Lease},
		{&t.First, queue.First},
		{&t.Extend, 5 * time.Second},
		{&t.Guard, 15 * time.Second},
		{&t.Look, 750 * time.Millisecond},
		{&t.Feed, 75 * time.Millisecond},
		{&t.Sweep, time.Hour},
		{&t.Watch, 250 * time.Millisecond},
	} {
		if *f.field == 0 {
			*f.field = f.is
		}
	}
	return t
}

// How often asynq's servers ask Redis. A poll is the only way in: asynq never blocks on a list.
const (
	pollPending = 15 * time.Millisecond // half to one and a half of it, when idle
	pollCalls   = 5 * time.Millisecond  // the lane of webhooks; polls.go spares Redis most of it
	pollRetry   = time.Second
)

// handOver is the time between the end of the grace period, when runs are cancelled, and asynq's giving back of
// what is left.
const handOver = time.Second

// Worker runs jobs, and keeps Postgres and asynq in step while it does.
type Worker struct {
	opt      Options
	ledger   *queue.Ledger
	courier  *queue.Courier
	clerk    *queue.Clerk
	bundles  *bundles
	takes    *takes
	handlers map[string]queue.Handler
	runs     *runs
	crews    *crews
	ends     *ends
	link     link
	// unclaimedLog keeps a fault that every claim meets from filling the log.
	unclaimedLog sampler
	log          *slog.Logger
	metrics      *Metrics
	working      sync.WaitGroup
}

// New makes a worker that does nothing until Run.
func New(o Options) *Worker {
	if o.Concurrency == 0 {
		o.Concurrency = 20
	}
	if o.Grace == 0 {
		o.Grace = 25 * time.Second
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	o.Timing = o.Timing.filled()
	ledger := &queue.Ledger{App: o.App, System: o.System, Lease: o.Timing.Lease, First: o.Timing.First, Hooks: o.Hooks}
	w := &Worker{
		opt: o, ledger: ledger, courier: queue.NewCourier(ledger, o.Redis), clerk: queue.NewClerk(ledger), bundles: newBundles(o.Redis),
		runs: newRuns(ledger, o.Timing, o.Log, o.Metrics), takes: newTakes(o.Redis), ends: newEnds(),
		log: o.Log, metrics: o.Metrics, unclaimedLog: sampler{every: time.Second},
	}
	w.crews = newCrews(o.Concurrency, w.takes)
	for _, h := range o.Handlers { // an alert sees the first overrun only if there was a figure before it
		o.Metrics.overruns.WithLabelValues(h.Kind)
	}
	o.Redis.AddHook(newPolls(&w.link, w.takes))
	o.Redis.AddHook(w.bundles)
	return w
}

// Run works until ctx ends; then it takes nothing new, lets runs go on for the grace period, cancels what is
// left and hands it back. It answers an error only where the handlers are wrong or asynq does not start; Redis
// or Postgres being away is waited for.
func (w *Worker) Run(ctx context.Context) error {
	var err error
	if w.handlers, err = mux(w.opt.Handlers); err != nil {
		return err
	}
	var helpers, extender errgroup.Group
	looking, stopLooking := context.WithCancel(ctx)
	extending, stopExtending := context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		stopLooking()
		_ = helpers.Wait()
		stopExtending()
		_ = extender.Wait()
	}()
	extender.Go(func() error { w.runs.extend(extending); return nil })
	extender.Go(func() error { return w.clerk.Run(extending) })
	extender.Go(func() error { w.bundles.run(extending); return nil })
	helpers.Go(func() error { w.relay(looking); return nil })
	helpers.Go(func() error { w.feed(looking); return nil })
	helpers.Go(func() error { w.count(looking); return nil })
	for _, look := range w.opt.Watches {
		helpers.Go(func() error { w.watch(looking, look); return nil })
	}

	if err = w.begin(); err == nil {
		w.log.InfoContext(ctx, "worker runs", "concurrency", w.Concurrency(), "kinds", len(w.handlers))
		<-ctx.Done()
	}
	stopLooking()
	w.shutdown(context.WithoutCancel(ctx))
	return err
}
