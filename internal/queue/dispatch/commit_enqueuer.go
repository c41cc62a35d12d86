package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Limits of the CommitEnqueuer. The relay enqueues jobs that exceed them, 3 s later.
const (
	pushRoom   = 8192                   // queued jobs
	pushBatch  = 128                    // jobs per pipeline
	pushWait   = 25 * time.Millisecond  // timeout for one job
	pushMore   = 500 * time.Microsecond // plus this for each further job of the pipeline
	pushFails  = 3                      // consecutive failures that open the breaker
	pushPause  = time.Second            // how long the breaker stays open
	pushEnding = time.Second            // to drain the queue at shutdown
)

// CommitEnqueuer enqueues jobs in asynq right after their commit. It is best effort by design: the relay finds whatever
// it drops in Postgres. A commit never waits for it.
type CommitEnqueuer struct {
	enqueue *Enqueuer
	refs    chan queue.Ref
	log     *slog.Logger
	metrics *Metrics
	batcher batch.Batcher[queue.Ref]
	load    []queue.Ref
	fails   int       // consecutive failures
	open    time.Time // the breaker is open until then
}

// CommitEnqueuerOptions configures a CommitEnqueuer.
type CommitEnqueuerOptions struct {
	// Redis must be a separate client that fails fast: no retries, and reads that end with their context. The caller
	// closes it.
	Redis   redis.UniversalClient
	Log     *slog.Logger
	Metrics *Metrics // may be nil
}

// NewCommitEnqueuer returns a CommitEnqueuer that enqueues nothing until Run.
func NewCommitEnqueuer(o CommitEnqueuerOptions) *CommitEnqueuer {
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return &CommitEnqueuer{
		enqueue: NewEnqueuer(o.Redis), refs: make(chan queue.Ref, pushRoom), log: o.Log, metrics: o.Metrics,
		batcher: batch.Batcher[queue.Ref]{Interval: batch.Interval, FlushSize: batch.FlushSize, MaxSize: pushBatch},
	}
}

// AfterCommit takes the jobs from a transaction's notes; pass it to postgres.Options. It never blocks. Jobs that do not
// fit into the queue are counted as dropped and left to the relay.
func (p *CommitEnqueuer) AfterCommit(_ context.Context, notes []any) {
	for _, n := range notes {
		ref, ok := n.(queue.Ref)
		if !ok {
			continue
		}
		select {
		case p.refs <- ref:
		default:
			p.metrics.pushes.WithLabelValues("dropped").Inc()
		}
	}
}

// Run enqueues jobs until ctx ends, then drains the queue for at most a second. ctx must end after the last
// transaction.
func (p *CommitEnqueuer) Run(ctx context.Context) error {
	for {
		select {
		case ref := <-p.refs:
			p.round(context.WithoutCancel(ctx), ref)
		case <-ctx.Done():
			end := time.Now().Add(pushEnding)
			for time.Now().Before(end) {
				select {
				case ref := <-p.refs:
					p.round(context.WithoutCancel(ctx), ref)
				default:
					return nil
				}
			}
			return nil
		}
	}
}

// round enqueues first and the other queued jobs.
func (p *CommitEnqueuer) round(ctx context.Context, first queue.Ref) {
	p.load = p.batcher.Collect(p.load, first, p.refs)
	refs := p.load
	if time.Now().Before(p.open) {
		p.metrics.pushes.WithLabelValues("dropped").Add(float64(len(refs)))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pushWait+time.Duration(len(refs)-1)*pushMore)
	defer cancel()
	var failed error
	for _, err := range p.enqueue.Enqueue(ctx, refs...) {
		// A conflict means that the job is already enqueued: by the relay, or by an earlier attempt that lost its
		// reply.
		if err == nil || errors.Is(err, asynq.ErrTaskIDConflict) {
			p.metrics.pushes.WithLabelValues("ok").Inc()
			continue
		}
		failed = err
		p.metrics.pushes.WithLabelValues("failed").Inc()
	}
	p.judge(ctx, failed)
}

// judge updates the circuit breaker.
func (p *CommitEnqueuer) judge(ctx context.Context, failed error) {
	if failed == nil {
		if p.fails >= pushFails {
			p.log.DebugContext(ctx, "enqueueing after commits works again")
		}
		p.fails = 0
		p.metrics.breaker.Set(0)
		return
	}
	if p.fails++; p.fails < pushFails {
		return
	}
	if p.fails == pushFails {
		p.log.DebugContext(ctx, "enqueueing after commits failed: jobs are left to the relay", "error", failed)
	}
	p.open = time.Now().Add(pushPause)
	p.metrics.breaker.Set(1)
}
