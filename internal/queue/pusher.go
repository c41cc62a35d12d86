package queue

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Limits of the pusher. A push that does not fit them is left to the relay, which comes 3 s later.
const (
	pushRoom   = 8192                   // jobs that wait for their push
	pushBatch  = 128                    // jobs in one pipeline
	pushWait   = 25 * time.Millisecond  // for one push
	pushMore   = 500 * time.Microsecond // for each further job of the pipeline
	pushFails  = 3                      // failures in a row that open the breaker
	pushPause  = time.Second            // for which an open breaker tries nothing
	pushEnding = time.Second            // for the rest, when the process ends
)

// Pusher hands jobs to asynq right after their commit. It is best effort by design: whatever it drops, the
// relay finds in Postgres. A commit never waits for it.
type Pusher struct {
	enqueue *Enqueuer
	refs    chan Ref
	log     *slog.Logger
	metrics *Metrics
	crowd   Crowd[Ref]
	load    []Ref
	fails   int       // in a row
	open    time.Time // until then nothing is tried
}

// PusherOptions of a Pusher.
type PusherOptions struct {
	// Redis is a client of the pusher's own that gives up quickly: no retries, and its reads end with their
	// context. The caller closes it.
	Redis   redis.UniversalClient
	Log     *slog.Logger
	Metrics *Metrics // may be nil
}

// NewPusher makes a pusher that pushes nothing until Run.
func NewPusher(o PusherOptions) *Pusher {
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return &Pusher{enqueue: NewEnqueuer(o.Redis), refs: make(chan Ref, pushRoom), log: o.Log, metrics: o.Metrics, crowd: Crowd[Ref]{Gap: CrowdGap, Enough: CrowdEnough, Most: pushBatch}}
}

// AfterCommit is for postgres.Options: it picks the jobs out of a transaction's notes. It never blocks; jobs
// that find the pusher full are counted and left to the relay.
func (p *Pusher) AfterCommit(_ context.Context, notes []any) {
	for _, n := range notes {
		ref, ok := n.(Ref)
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

// Run pushes until ctx ends, then what is left, for at most a second. End ctx after the last transaction.
func (p *Pusher) Run(ctx context.Context) error {
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

// round pushes first and what else is waiting.
func (p *Pusher) round(ctx context.Context, first Ref) {
	p.load = p.crowd.Gather(p.load, first, p.refs)
	refs := p.load
	if time.Now().Before(p.open) {
		p.metrics.pushes.WithLabelValues("dropped").Add(float64(len(refs)))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pushWait+time.Duration(len(refs)-1)*pushMore)
	defer cancel()
	var failed error
	for _, err := range p.enqueue.Enqueue(ctx, refs...) {
		// A conflict means that the relay, or a reply that was lost, has pushed the job before.
		if err == nil || errors.Is(err, asynq.ErrTaskIDConflict) {
			p.metrics.pushes.WithLabelValues("ok").Inc()
			continue
		}
		failed = err
		p.metrics.pushes.WithLabelValues("failed").Inc()
	}
	p.judge(ctx, failed)
}

// judge moves the breaker.
func (p *Pusher) judge(ctx context.Context, failed error) {
	if failed == nil {
		if p.fails >= pushFails {
			p.log.DebugContext(ctx, "pushes to redis work again")
		}
		p.fails = 0
		p.metrics.breaker.Set(0)
		return
	}
	if p.fails++; p.fails < pushFails {
		return
	}
	if p.fails == pushFails {
		p.log.DebugContext(ctx, "pushes to redis fail: jobs are left to the relay", "error", failed)
	}
	p.open = time.Now().Add(pushPause)
	p.metrics.breaker.Set(1)
}
