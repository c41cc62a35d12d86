package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// runs is the runs in this process. One statement extends all their leases. A run is cancelled if its lease was not
// extended for Guard or was taken, well before another process may claim its job.
type runs struct {
	store   *store.Store
	timing  Timing
	log     *slog.Logger
	metrics *Metrics

	mu   sync.Mutex
	all  map[*run]struct{}
	over error // if set, new runs are cancelled at once
}

// run is one run. claim is nil if the row lock is the lease, which ends only with its session.
type run struct {
	claim    *queue.Claimed
	end      context.CancelCauseFunc
	extended time.Time // start of the last successful extension
	guard    *time.Timer
}

func newRuns(l *store.Store, t Timing, log *slog.Logger, m *Metrics) *runs {
	return &runs{store: l, timing: t, log: log, metrics: m, all: map[*run]struct{}{}}
}

// beginRun returns the context of a run. at is the time of the claim, or earlier.
func (r *runs) beginRun(ctx context.Context, claim *queue.Claimed, at time.Time) (context.Context, *run) {
	ctx, cancel := context.WithCancelCause(ctx)
	one := &run{claim: claim, end: cancel, extended: at}
	if claim != nil {
		one.guard = time.AfterFunc(r.timing.Guard-time.Since(at), func() { cancel(errLeaseLost) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[one] = struct{}{}
	if r.over != nil {
		cancel(r.over)
	}
	return ctx, one
}

// finishRun stops extending a run after its work has returned, and returns the deadline for writing its completion. An
// extension concurrent with the completion would wait for its row lock and delay all other extensions.
func (r *runs) finishRun(one *run) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.guard != nil {
		one.guard.Stop()
	}
	delete(r.all, one)
	one.end(nil)
	return one.extended.Add(r.timing.Guard)
}

// cancelAll cancels all runs, including runs that begin later.
func (r *runs) cancelAll(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = why
	for one := range r.all {
		one.end(why)
	}
}

func (r *runs) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// extendLeases is T7 until ctx ends.
func (r *runs) extendLeases(ctx context.Context) {
	for pauseFor(ctx, r.timing.Extend) {
		r.extendOnce(ctx)
	}
}

func (r *runs) extendOnce(ctx context.Context) {
	byOwner := map[id.ID]*run{}
	var claims []*queue.Claimed
	r.mu.Lock()
	for one := range r.all {
		if one.claim != nil {
			byOwner[one.claim.Owner()] = one
			claims = append(claims, one.claim)
		}
	}

	r.mu.Unlock()
	if len(claims) == 0 {
		return
	}

	at := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.timing.Extend)
	defer cancel()
	held, err := r.store.Extend(ctx, claims)
	if err != nil {
		r.log.WarnContext(ctx, "failed to extend leases", "runs", len(claims), "error", err)
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for owner, one := range byOwner {
		if _, still := r.all[one]; !still {
			continue
		}
		if !held[owner] {
			r.metrics.lost.Inc()
			one.end(errLeaseLost)
			continue
		}
		one.extended = at
		one.guard.Reset(r.timing.Guard - time.Since(at))
	}
}
