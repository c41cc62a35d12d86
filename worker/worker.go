package worker

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/feed"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// Options configures a Worker. App, System, Redis and Log must be set.
type Options struct {
	App, System *postgres.DB
	// Redis is a separate client with go-redis's retries, because asynq's loop spins on a client that fails fast. The
	// worker adds hooks to it that affect asynq's commands. The caller closes it.
	Redis    redis.UniversalClient
	Handlers []queue.Handler
	Hooks    store.Hooks // called when a job ends without a run
	// Concurrency is how many jobs run at once in this process; 0 means 64, since most jobs wait for Postgres or for
	// other servers. The webhooks lane has eight additional slots for each, at least 160 and at most 800, so that slow
	// receivers delay nothing else. The remote lane has half as many as the webhooks lane.
	Concurrency int
	// Grace is how long runs may continue after Run's context has ended; 0 means 25 s.
	Grace   time.Duration
	Log     *slog.Logger
	Metrics *Metrics      // may be nil
	Tracer  *spans.Tracer // may be nil
	// Watches find work that no request enqueues, and add its jobs. Each is called in a loop with Timing.Watch between
	// calls. They must be safe to run in several workers at once.
	Watches []func(context.Context) error
	// Timing replaces the protocol's intervals where it is not zero. It is for tests.
	Timing Timing
}

// Timing is the protocol's intervals. A zero field means the default.
type Timing struct {
	Lease  time.Duration // 20 s: a lease, and the interval between two checks of a row
	First  time.Duration // 3 s: from a push to the first check
	Extend time.Duration // 5 s: between two lease extensions
	Guard  time.Duration // 15 s: from a run's last extension to its cancellation
	Look   time.Duration // 750 ms: between two scans of the relay, so that Lease plus a scan stay within 21 s
	Feed   time.Duration // 75 ms: between two rounds of the feeder
	Sweep  time.Duration // 1 h: between two sweeps of asynq's archived tasks
	Watch  time.Duration // 250 ms: between two calls of a watch
	Waits  time.Duration // 5 min: between two searches for waits that last too long
}

func (t Timing) withDefaults() Timing {
	for _, f := range []struct {
		field *time.Duration
		is    time.Duration
	}{
		{&t.Lease, store.Lease},
		{&t.First, store.First},
		{&t.Extend, 5 * time.Second},
		{&t.Guard, 15 * time.Second},
		{&t.Look, 750 * time.Millisecond},
		{&t.Feed, 75 * time.Millisecond},
		{&t.Sweep, time.Hour},
		{&t.Watch, 250 * time.Millisecond},
		{&t.Waits, 5 * time.Minute},
	} {
		*f.field = cmp.Or(*f.field, f.is)
	}

	return t
}

// How often asynq's servers poll Redis while there are tasks; idleLanes is about the time without.
const (
	pollPending = 15 * time.Millisecond // 0.5 to 1.5 times this, after a poll without a task
	pollCalls   = 5 * time.Millisecond  // the webhooks lane
	pollRetry   = 15 * time.Second      // Postgres starts retries: asynq's entries are for the eye
	janitor     = time.Hour             // asynq's search for expired completed tasks: ours leave none
)

// handOver is the time from the end of the grace period, when runs are cancelled, until asynq requeues the remaining
// tasks.
const handOver = time.Second

// Worker runs jobs and keeps Postgres and asynq in step.
type Worker struct {
	opt        Options
	store      *store.Store
	feeder     *feed.Feeder
	dispatcher *dispatch.Dispatcher
	completer  *store.BatchCompleter
	prefetch   *prefetch
	handlers   map[string]queue.Handler
	runs       *runs
	pools      *serverPools
	vacuumer   *store.Vacuumer
	health     redisHealth
	idle       *idleLanes
	clock      clockWatch         // the relay's
	floor      scanFloor          // the relay's
	setBack    chan time.Duration // from the relay to endWaits
	// unclaimedLog keeps a fault that fails every claim from flooding the log.
	unclaimedLog sampler
	log          *slog.Logger
	metrics      *Metrics
	working      sync.WaitGroup
}

// New returns a worker that does nothing until Run.
func New(o Options) *Worker {
	o.Concurrency = cmp.Or(o.Concurrency, 64)
	o.Grace = cmp.Or(o.Grace, 25*time.Second)
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	o.Timing = o.Timing.withDefaults()
	jobs := &store.Store{
		App: o.App, System: o.System, Lease: o.Timing.Lease, First: o.Timing.First, Hooks: o.Hooks,
		Aliases: store.AliasesOf(o.Handlers),
	}
	w := &Worker{
		opt: o, store: jobs, feeder: feed.New(jobs), dispatcher: dispatch.New(jobs, o.Redis),
		completer: store.NewBatchCompleter(jobs), vacuumer: store.NewVacuumer(jobs),
		runs: newRuns(jobs, o.Timing, o.Log, o.Metrics), prefetch: newPrefetch(),
		setBack: make(chan time.Duration, 1), unclaimedLog: sampler{every: time.Second},
		log: o.Log, metrics: o.Metrics,
	}
	w.pools = newServerPools(o.Concurrency, w.prefetch)
	for _, h := range o.Handlers { // an alert needs an earlier value to see the first overrun
		o.Metrics.overruns.WithLabelValues(h.Kind)
	}

	w.idle = newIdleLanes(&w.health)
	asynqx.OnPoll(o.Redis, (&pollSuppressor{&w.health, w.prefetch, w.idle}).completePoll)
	return w
}

// Run works until ctx ends. It then takes no new tasks, lets runs continue for the grace period, cancels the remaining
// runs and requeues them. It returns an error only if the handlers are invalid or asynq does not start. While Redis or
// Postgres is unavailable it waits.
func (w *Worker) Run(ctx context.Context) error {
	var err error
	if w.handlers, err = handlersByName(w.opt.Handlers); err != nil {
		return err
	}

	var helpers, extender sync.WaitGroup
	looking, stopLooking := context.WithCancel(ctx)
	extending, stopExtending := context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		stopLooking()
		helpers.Wait()
		stopExtending()
		extender.Wait()
	}()
	extender.Go(func() { w.runs.extendLeases(extending) })
	for _, help := range []func(context.Context){
		w.runRelay, w.runFeeder, w.countBacklog, w.mirrorPauses, w.vacuumJobs, w.endWaits,
	} {
		helpers.Go(func() { help(looking) })
	}

	for _, lane := range queue.Lanes() {
		helpers.Go(func() { w.idle.watchLane(looking, w.opt.Redis, lane) })
	}

	for _, look := range w.opt.Watches {
		helpers.Go(func() { w.pollWatch(looking, look) })
	}

	if err = w.startPools(); err == nil {
		w.log.InfoContext(ctx, "worker started", "concurrency", w.Concurrency(), "kinds", len(w.opt.Handlers))
		<-ctx.Done()
	}
	stopLooking()
	w.idle.wakePolls()
	w.shutdownServers(context.WithoutCancel(ctx))
	return err
}

// mirrorPauses pauses the aliases of paused kinds, once Postgres is available.
func (w *Worker) mirrorPauses(ctx context.Context) {
	for more := true; more; more = pauseFor(ctx, statement) {
		mirroring, cancel := context.WithTimeout(ctx, statement)
		err := w.store.MirrorPauses(mirroring)
		cancel()
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			w.log.WarnContext(ctx, "failed to pause the aliases of paused kinds", "error", err)
		}
	}
}
