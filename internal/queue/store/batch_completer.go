package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// BatchCompleter collects the claims of many runs and sends them to Postgres in one statement. It does the same with
// completions that have no effects. Runs that are done and share their effects (Claimed.EffectBatch) are completed in
// one transaction. Requests that arrive while a statement of the same sort is in flight share the next one, as
// batch.Batcher describes; a lone request is sent at once. There is one statement of each sort at a time: two would
// make batches half as large and each job about a tenth more expensive.
//
// Each claim and each completion succeeds or fails on its own, by the same predicates as in Store. A request that the
// shared statement did not complete, because its row was locked or nothing matched, is tried once more by itself, so
// that a locked row does not delay the other requests.
type BatchCompleter struct {
	store                     *Store
	claims, completions, ends *batch.Batcher[*batchCall]
}

// NewBatchCompleter returns a BatchCompleter.
func NewBatchCompleter(s *Store) *BatchCompleter {
	return &BatchCompleter{s, newBatch(s.claimAll), newBatch(s.finishAll), newBatch(s.endAll)}
}

// Claim is like Store.Claim, batched.
func (c *BatchCompleter) Claim(ctx context.Context, org, job id.ID) (*queue.Claimed, error) {
	owner := id.New()
	a := &batchCall{claim: &queue.Claimed{ID: job, Org: org, Fence: &owner}}
	err := c.claims.Do(ctx, a)
	switch {
	case err != nil && !wasRefused(err):
		return nil, err
	case err == nil && a.ok:
		return a.claim, nil
	}
	return c.store.Claim(ctx, org, job)
}

// Finish is like Store.Finish, batched where the completion allows it. If the shared transaction does not complete a
// run with shared effects, Finish completes it alone; if that transaction was committed after all, the fence refuses
// the second completion.
func (c *BatchCompleter) Finish(ctx context.Context, run *queue.Claimed, v Completion) error {
	shared, to := len(run.EffectItems()) > 0, c.completions
	if run.Fence == nil || run.HasEffects() || v.Outcome == Released || shared && v.Outcome != Done {
		return c.store.Finish(ctx, run, v)
	}
	if shared {
		to = c.ends
	}
	a := &batchCall{claim: run, verdict: v, items: run.EffectItems()}
	err := to.Do(ctx, a)
	if err == nil && a.ok || err != nil && !shared && !wasRefused(err) {
		return err
	}
	return c.store.Finish(ctx, run, v)
}

// wasRefused reports whether a call was not batched, or the server rejected its statement. The caller then retries each
// call alone, to find the one that caused the rejection.
func wasRefused(err error) bool {
	_, rejected := errors.AsType[*pgconn.PgError](err)
	return rejected || errors.Is(err, batch.ErrRefused)
}
