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
	refs    *batch.Batcher[queue.Ref]
	log     *slog.Logger
	metrics *Metrics
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

// NewCommitEnqueuer returns a CommitEnqueuer. The caller must call Run.
func NewCommitEnqueuer(o CommitEnqueuerOptions) *CommitEnqueuer {
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	p := &CommitEnqueuer{enqueue: NewEnqueuer(o.Redis), log: o.Log, metrics: o.Metrics}
	p.refs = batch.New(batch.Options[queue.Ref]{
		Interval: batch.Interval, FlushSize: batch.FlushSize, Most: pushBatch, Queued: pushRoom, Send: p.sendBatch,
	})
	return p
}

// AfterCommit takes the jobs from a transaction's notes; pass it to postgres.Options. It never blocks. Jobs that do not
// fit into the queue are counted as dropped and left to the relay.
func (e *CommitEnqueuer) AfterCommit(_ context.Context, notes []any) {
	for _, n := range notes {
		if ref, ok := n.(queue.Ref); ok && !e.refs.Add(ref) {
			e.metrics.pushes.WithLabelValues("dropped").Inc()
		}
	}
}

// Run waits until ctx ends, and then for at most a second for the jobs in the queue. ctx must end after the last
// transaction.
func (e *CommitEnqueuer) Run(ctx context.Context) error {
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pushEnding)
	defer cancel()
	e.refs.Close(ctx)
	return nil
}

// sendBatch enqueues a batch. There is one call at a time.
func (e *CommitEnqueuer) sendBatch(ctx context.Context, refs []queue.Ref) error {
	if time.Now().Before(e.open) {
		e.metrics.pushes.WithLabelValues("dropped").Add(float64(len(refs)))
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pushWait+time.Duration(len(refs)-1)*pushMore)
	defer cancel()
	var failed error
	for _, err := range e.enqueue.Enqueue(ctx, refs...) {
		// A conflict means that the job is already enqueued: by the relay, or by an earlier attempt that lost its
		// reply.
		if err == nil || errors.Is(err, asynq.ErrTaskIDConflict) {
			e.metrics.pushes.WithLabelValues("ok").Inc()
			continue
		}
		failed = err
		e.metrics.pushes.WithLabelValues("failed").Inc()
	}
	e.updateBreaker(ctx, failed)
	return nil
}

// updateBreaker updates the circuit breaker.
func (e *CommitEnqueuer) updateBreaker(ctx context.Context, failed error) {
	if failed == nil {
		e.fails = 0
		e.metrics.breaker.Set(0)
		return
	}
	if e.fails++; e.fails < pushFails {
		return
	}
	if e.fails == pushFails {
		e.log.DebugContext(ctx, "enqueueing after commits failed: jobs are left to the relay", "error", failed)
	}
	e.open = time.Now().Add(pushPause)
	e.metrics.breaker.Set(1)
}
