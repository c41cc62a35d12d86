package store

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// BatchCompleter collects the claims of many runs and sends them to Postgres in one statement. It does the same with
// completions that have no effects. Runs that are done and share their effects (Claimed.EffectBatch) are completed in
// one transaction. Requests that arrive while a statement of the same sort is in flight share the next one, as Batcher
// describes; a lone request is sent at once. There is one statement of each sort at a time: two would make batches half
// as large and each job about a tenth more expensive.
//
// Each claim and each completion succeeds or fails on its own, by the same predicates as in Store. A request that the
// shared statement did not complete, because its row was locked or nothing matched, is tried once more by itself, so
// that a locked row does not delay the other requests.
type BatchCompleter struct {
	store    *Store
	claims   chan *batchCall
	verdicts chan *batchCall
	ends     chan *batchCall
	over     chan struct{}
}

// NewBatchCompleter returns a BatchCompleter that batches while Run is running. At other times each request is sent by
// itself.
func NewBatchCompleter(l *Store) *BatchCompleter {
	return &BatchCompleter{
		store: l, claims: make(chan *batchCall, batchSize),
		verdicts: make(chan *batchCall, batchSize), ends: make(chan *batchCall, batchSize), over: make(chan struct{}),
	}
}

// Run sends batches until ctx ends. ctx must end after the last run.
func (c *BatchCompleter) Run(ctx context.Context) error {
	defer close(c.over)
	var loops sync.WaitGroup
	loops.Go(func() { serve(ctx, c.claims, c.store.claimAll) })
	loops.Go(func() { serve(ctx, c.verdicts, c.store.finishAll) })
	loops.Go(func() { serve(ctx, c.ends, c.store.endAll) })
	loops.Wait()
	return nil
}

// Claim is like Store.Claim, batched.
func (c *BatchCompleter) Claim(ctx context.Context, org, job id.ID) (*queue.Claimed, error) {
	owner := id.New()
	a := &batchCall{claim: &queue.Claimed{ID: job, Org: org, Fence: &owner}, answer: make(chan error, 1)}
	taken, err := c.ask(ctx, c.claims, a)
	switch {
	case err != nil && !refused(err):
		return nil, err
	case err == nil && taken && a.ok:
		return a.claim, nil
	}
	return c.store.Claim(ctx, org, job)
}

// Finish is like Store.Finish, batched where the completion allows it.
func (c *BatchCompleter) Finish(ctx context.Context, run *queue.Claimed, v Completion) error {
	switch {
	case run.Fence == nil, run.HasEffects(), v.Outcome == Released, len(run.EffectItems()) > 0 && v.Outcome != Done:
		return c.store.Finish(ctx, run, v)
	case len(run.EffectItems()) > 0:
		return c.end(ctx, run, v)
	}
	a := &batchCall{claim: run, verdict: v, answer: make(chan error, 1)}
	taken, err := c.ask(ctx, c.verdicts, a)
	if err != nil && !refused(err) || err == nil && taken && a.ok {
		return err
	}
	return c.store.Finish(ctx, run, v)
}

// end is Finish for a run that is done and has shared effects. If the shared transaction does not complete the run, end
// completes it alone. If the shared transaction was committed after all, the fence refuses the second completion.
func (c *BatchCompleter) end(ctx context.Context, run *queue.Claimed, v Completion) error {
	a := &batchCall{claim: run, verdict: v, items: run.EffectItems(), answer: make(chan error, 1)}
	if taken, err := c.ask(ctx, c.ends, a); err == nil && taken && a.ok {
		return nil
	}
	return c.store.Finish(ctx, run, v)
}

// refused reports whether the server rejected a statement. The caller then retries each request alone, to find the one
// that caused the rejection.
func refused(err error) bool { _, ok := errors.AsType[*pgconn.PgError](err); return ok }

// ask submits a and waits for its result. taken is false if the batch loop did not accept a.
func (c *BatchCompleter) ask(ctx context.Context, to chan<- *batchCall, a *batchCall) (taken bool, err error) {
	select {
	case <-c.over:
		return false, nil
	default:
	}
	select {
	case to <- a:
	default:
		return false, nil
	}
	select {
	case err := <-a.answer:
		return true, err
	case <-ctx.Done():
		return true, ctx.Err()
	case <-c.over:
		select {
		case err := <-a.answer:
			return true, err
		default:
			return false, nil
		}
	}
}
