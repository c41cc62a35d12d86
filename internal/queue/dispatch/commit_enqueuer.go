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
		Interval: batch.Interval, FlushSize: batch.FlushSize, Most: pushBatch, Queued: pushRoom, Send: p.send,
	})
	return p
}

// AfterCommit takes the jobs from a transaction's notes; pass it to postgres.Options. It never blocks. Jobs that do not
// fit into the queue are counted as dropped and left to the relay.
func (p *CommitEnqueuer) AfterCommit(_ context.Context, notes []any) {
	for _, n := range notes {
		if ref, ok := n.(queue.Ref); ok && !p.refs.Add(ref) {
			p.metrics.pushes.WithLabelValues("dropped").Inc()
		}
	}
}

// Run waits until ctx ends, and then for at most a second for the jobs in the queue. ctx must end after the last
// transaction.
func (p *CommitEnqueuer) Run(ctx context.Context) error {
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pushEnding)
	defer cancel()
	p.refs.Close(ctx)
	return nil
}

// send enqueues a batch. There is one call at a time.
func (p *CommitEnqueuer) send(ctx context.Context, refs []queue.Ref) error {
	if time.Now().Before(p.open) {
		p.metrics.pushes.WithLabelValues("dropped").Add(float64(len(refs)))
		return nil
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
	return nil
}

// judge updates the circuit breaker.
func (p *CommitEnqueuer) judge(ctx context.Context, failed error) {
	if failed == nil {
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
