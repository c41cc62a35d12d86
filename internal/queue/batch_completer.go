package queue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Limits of a BatchCompleter.
const (
	batchSize    = 256             // runs per statement
	batchTimeout = 3 * time.Second // per statement
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
	ledger   *Store
	claims   chan *batchCall
	verdicts chan *batchCall
	ends     chan *batchCall
	over     chan struct{}
}

// batchCall is one claim or one completion.
type batchCall struct {
	claim   *Claimed
	verdict Completion
	shared  []part // snapshot of the run's shared effects
	ok      bool
	answer  chan error // capacity 1
}

// NewBatchCompleter returns a BatchCompleter that batches while Run is running. At other times each request is sent by
// itself.
func NewBatchCompleter(l *Store) *BatchCompleter {
	return &BatchCompleter{
		ledger: l, claims: make(chan *batchCall, batchSize),
		verdicts: make(chan *batchCall, batchSize), ends: make(chan *batchCall, batchSize), over: make(chan struct{}),
	}
}

// Run sends batches until ctx ends. ctx must end after the last run.
func (c *BatchCompleter) Run(ctx context.Context) error {
	defer close(c.over)
	var hands sync.WaitGroup
	hands.Go(func() { serve(ctx, c.claims, c.claimAll) })
	hands.Go(func() { serve(ctx, c.verdicts, c.finishAll) })
	hands.Go(func() { serve(ctx, c.ends, c.endAll) })
	hands.Wait()
	return nil
}

// serve collects requests into batches and executes each batch with do, until ctx ends.
func serve(ctx context.Context, asks <-chan *batchCall, do func(context.Context, []*batchCall) error) {
	load := make([]*batchCall, 0, batchSize)
	crowd := Batcher[*batchCall]{Interval: BatchInterval, FlushSize: BatchFlushSize, MaxSize: batchSize}
	for {
		select {
		case a := <-asks:
			load = crowd.Collect(load, a, asks)
		case <-ctx.Done():
			return
		}
		// Sort by key, so that concurrent statements lock rows in the same order and cannot deadlock.
		slices.SortFunc(load, func(a, b *batchCall) int {
			return cmp.Or(bytes.Compare(a.claim.Org[:], b.claim.Org[:]), bytes.Compare(a.claim.ID[:], b.claim.ID[:]))
		})
		at, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
		err := do(at, load)
		cancel()
		for _, a := range load {
			a.answer <- err
		}
	}
}

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

// Claim is like Store.Claim, batched.
func (c *BatchCompleter) Claim(ctx context.Context, org, job id.ID) (*Claimed, error) {
	owner := id.New()
	a := &batchCall{claim: &Claimed{ID: job, Org: org, owner: &owner}, answer: make(chan error, 1)}
	taken, err := c.ask(ctx, c.claims, a)
	switch {
	case err != nil && !refused(err):
		return nil, err
	case err == nil && taken && a.ok:
		return a.claim, nil
	}
	return c.ledger.Claim(ctx, org, job)
}

// Finish is like Store.Finish, batched where the completion allows it.
func (c *BatchCompleter) Finish(ctx context.Context, run *Claimed, v Completion) error {
	switch {
	case run.owner == nil, len(run.effects) > 0, v.Outcome == Released, len(run.shared) > 0 && v.Outcome != Done:
		return c.ledger.Finish(ctx, run, v)
	case len(run.shared) > 0:
		return c.end(ctx, run, v)
	}
	a := &batchCall{claim: run, verdict: v, answer: make(chan error, 1)}
	taken, err := c.ask(ctx, c.verdicts, a)
	if err != nil && !refused(err) || err == nil && taken && a.ok {
		return err
	}
	return c.ledger.Finish(ctx, run, v)
}

// refused reports whether the server rejected a statement. The caller then retries each request alone, to find the one
// that caused the rejection.
func refused(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok
}

// byKeySQL is sent before statements that find a few rows by key or in the order of an index. The table's size swings
// between small and large, with mostly dead rows in both cases. From such statistics the planner may choose a hash join
// over the whole table, or another index plus a sort, and a prepared statement keeps that plan. These settings force
// index plans.
const byKeySQL = `SELECT set_config('jit', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
	set_config('enable_incremental_sort', 'off', true)`

// onceSQL also forces a generic plan for all lists of keys. By default the server replans for each list, which costs
// more than executing the statement.
const onceSQL = ", set_config('plan_cache_mode', 'force_generic_plan', true)"

// asyncCommitSQL also makes the commit asynchronous. It is for transactions that record temporary ownership: wake_at
// recovers what a crash of Postgres loses, and the fence admits only the last claim.
const asyncCommitSQL = byKeySQL + ", set_config('synchronous_commit', 'off', true)"

// claimAllSQL is T5 for many jobs. It skips locked rows; their claims are retried alone. As in all statements for many
// jobs, state IN ('ready', ”) keeps the planner from the partial index of slots, with which it would scan the slots of
// the whole org.
const claimAllSQL = `
WITH mine AS MATERIALIZED (
	SELECT job.org_id, job.id, m.owner
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS m (org_id, id, owner)
	JOIN job ON job.org_id = m.org_id AND job.id = m.id
	WHERE job.state IN ('ready', '') AND job.wake_at IS NOT NULL AND (job.owner IS NULL OR job.wake_at <= now())` +
	may + `
	FOR UPDATE OF job SKIP LOCKED
)
UPDATE job SET owner = mine.owner, wake_at = now() + $4::interval
FROM mine WHERE job.org_id = mine.org_id AND job.id = mine.id
RETURNING job.owner,` + claimed

func (c *BatchCompleter) claimAll(ctx context.Context, load []*batchCall) error {
	orgs, ids, owners := make([]id.ID, len(load)), make([]id.ID, len(load)), make([]id.ID, len(load))
	byOwner := make(map[id.ID]*batchCall, len(load))
	for i, a := range load {
		orgs[i], ids[i], owners[i] = a.claim.Org, a.claim.ID, *a.claim.owner
		byOwner[owners[i]] = a
	}
	return c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(asyncCommitSQL + onceSQL)
		tx.Queue(claimAllSQL, orgs, ids, owners, c.ledger.Lease).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			for rows.Next() {
				var owner id.ID
				var got Claimed
				if err := rows.Scan(append([]any{&owner}, got.columns()...)...); err != nil {
					return err
				}
				a := byOwner[owner]
				got.ID, got.Org, got.owner = a.claim.ID, a.claim.Org, a.claim.owner
				got.settle()
				*a.claim, a.ok = got, true
			}
			return rows.Err()
		})
		return nil
	})
}

// T8, T9 and T10 for many jobs.
const (
	fenceAll = `
WHERE job.org_id = m.org_id AND job.id = m.id AND job.owner = m.owner AND job.attempt = m.attempt
AND job.state IN ('ready', '') AND job.wake_at IS NOT NULL
RETURNING m.owner`
	doneAllSQL = `
DELETE FROM job USING unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[]) AS m (org_id, id, owner, attempt)` +
		fenceAll
	failAllSQL = `
UPDATE job SET owner = NULL,
	attempt = CASE WHEN m.outcome = 'snoozed' THEN job.attempt ELSE job.attempt + 1 END,
	last_error = CASE WHEN m.outcome = 'snoozed' THEN job.last_error ELSE m.error END,
	state = CASE WHEN m.outcome = 'dead' THEN 'dead' ELSE job.state END,
	dedupe_key = CASE WHEN m.outcome = 'dead' THEN NULL ELSE job.dedupe_key END,
	run_at = CASE WHEN m.outcome = 'dead' THEN job.run_at ELSE now() + m.later * interval '1 microsecond' END,
	due = job.due AND m.outcome = 'dead',
	wake_at = CASE WHEN m.outcome = 'dead' THEN now() + $8::interval END
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::bigint[]) AS m (org_id, id,
owner, attempt, outcome, error, later)` + fenceAll
)

func (c *BatchCompleter) finishAll(ctx context.Context, load []*batchCall) error {
	byOwner := make(map[id.ID]*batchCall, len(load))
	var done, other fenced
	var outcomes, texts []string
	var later []int64
	for _, a := range load {
		byOwner[*a.claim.owner] = a
		if a.verdict.Outcome == Done {
			done.add(a.claim)
			continue
		}
		other.add(a.claim)
		outcomes, texts, later = append(outcomes, string(a.verdict.Outcome)), append(texts, a.verdict.Error),
			append(later, a.verdict.In.Microseconds())
	}
	said := make([]id.ID, 0, len(load))
	note := func(rows pgx.Rows) error {
		owners, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		said = append(said, owners...)
		return err
	}
	err := c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(byKeySQL + onceSQL)
		if len(done.ids) > 0 {
			tx.Queue(doneAllSQL, done.orgs, done.ids, done.owners, done.attempts).Query(note)
		}
		if len(other.ids) > 0 {
			tx.Queue(failAllSQL, other.orgs, other.ids, other.owners, other.attempts, outcomes, texts, later,
				c.ledger.Lease).Query(note)
		}
		return nil
	})
	if err == nil {
		for _, owner := range said {
			byOwner[owner].ok = true
		}
	}
	return err
}

// fenced is the keys and fences of completions.
type fenced struct {
	orgs, ids, owners []id.ID
	attempts          []int
}

func (f *fenced) add(c *Claimed) {
	f.orgs, f.ids, f.owners, f.attempts = append(f.orgs, c.Org), append(f.ids, c.ID), append(f.owners, *c.owner),
		append(f.attempts, c.Attempt-1)
}
