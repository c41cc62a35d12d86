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

// Limits of a Clerk.
const (
	clerkLoad = 256             // runs in one statement
	clerkTime = 3 * time.Second // for one statement
)

// Clerk takes the claims of many runs to Postgres in one statement, and likewise their verdicts where these have no
// effects; and in one transaction the ends of those that are done and whose effects are shared (Claimed.Share). What
// comes while the one statement of its sort is on its way shares the next one with others, as Crowd says, and a lone
// run goes at once. Two statements at a time made batches half as large, and each job dearer by a tenth. Each claim and
// each verdict stands or falls alone, by the same predicates as Ledger's. What the shared statement did not do, because
// somebody has the row locked or because there is nothing to do, is tried once more by itself, so that no row that is
// held up holds up others.
type Clerk struct {
	ledger   *Ledger
	claims   chan *asked
	verdicts chan *asked
	ends     chan *asked
	over     chan struct{}
}

// asked is one claim or one verdict.
type asked struct {
	claim   *Claimed
	verdict Verdict
	shared  []part // as they were when asked
	ok      bool
	answer  chan error // holds one
}

// NewClerk makes a clerk that works while Run does; without it everything goes by itself.
func NewClerk(l *Ledger) *Clerk {
	return &Clerk{ledger: l, claims: make(chan *asked, clerkLoad), verdicts: make(chan *asked, clerkLoad), ends: make(chan *asked, clerkLoad), over: make(chan struct{})}
}

// Run works until ctx ends. End ctx after the last run.
func (c *Clerk) Run(ctx context.Context) error {
	defer close(c.over)
	var hands sync.WaitGroup
	hands.Go(func() { serve(ctx, c.claims, c.claimAll) })
	hands.Go(func() { serve(ctx, c.verdicts, c.finishAll) })
	hands.Go(func() { serve(ctx, c.ends, c.endAll) })
	hands.Wait()
	return nil
}

// serve takes what is there, and again.
func serve(ctx context.Context, asks <-chan *asked, do func(context.Context, []*asked) error) {
	load := make([]*asked, 0, clerkLoad)
	crowd := Crowd[*asked]{Gap: CrowdGap, Enough: CrowdEnough, Most: clerkLoad}
	for {
		select {
		case a := <-asks:
			load = crowd.Gather(load, a, asks)
		case <-ctx.Done():
			return
		}
		// In the order of their keys, so that statements that meet wait for each other in one direction.
		slices.SortFunc(load, func(a, b *asked) int {
			return cmp.Or(bytes.Compare(a.claim.Org[:], b.claim.Org[:]), bytes.Compare(a.claim.ID[:], b.claim.ID[:]))
		})
		at, cancel := context.WithTimeout(context.WithoutCancel(ctx), clerkTime)
		err := do(at, load)
		cancel()
		for _, a := range load {
			a.answer <- err
		}
	}
}

// ask hands a over and waits; taken is false where nobody took it.
func (c *Clerk) ask(ctx context.Context, to chan<- *asked, a *asked) (taken bool, err error) {
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

// Claim is Ledger.Claim.
func (c *Clerk) Claim(ctx context.Context, org, job id.ID) (*Claimed, error) {
	owner := id.New()
	a := &asked{claim: &Claimed{ID: job, Org: org, owner: &owner}, answer: make(chan error, 1)}
	taken, err := c.ask(ctx, c.claims, a)
	switch {
	case err != nil && !refused(err):
		return nil, err
	case err == nil && taken && a.ok:
		return a.claim, nil
	}
	return c.ledger.Claim(ctx, org, job)
}

// Finish is Ledger.Finish.
func (c *Clerk) Finish(ctx context.Context, run *Claimed, v Verdict) error {
	switch {
	case run.owner == nil, len(run.effects) > 0, v.Outcome == Released, len(run.shared) > 0 && v.Outcome != Done:
		return c.ledger.Finish(ctx, run, v)
	case len(run.shared) > 0:
		return c.end(ctx, run, v)
	}
	a := &asked{claim: run, verdict: v, answer: make(chan error, 1)}
	taken, err := c.ask(ctx, c.verdicts, a)
	if err != nil && !refused(err) || err == nil && taken && a.ok {
		return err
	}
	return c.ledger.Finish(ctx, run, v)
}

// refused tells whether the server judged a statement and said no: which of those that shared it was the reason is
// found out by trying each.
func refused(err error) bool { _, ok := errors.AsType[*pgconn.PgError](err); return ok }

// byKeySQL stands before statements that find their few rows by a key or by the order of an index. The table is
// small at one time and large the next, mostly dead rows in both cases; what the planner makes of its size then is
// a hash over all of it, or another index and a sort of all that it finds there, and a prepared statement keeps that.
const byKeySQL = `SELECT set_config('jit', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`

// onceSQL moreover has a plan made once for all lists of keys: left to itself the server makes one for each, which costs
// more than to carry it out.
const onceSQL = ", set_config('plan_cache_mode', 'force_generic_plan', true)"

// lazySQL moreover spares a transaction the wait for the disk. It is for those that say who has what for a while:
// what a crash of Postgres takes of them is found again by its wake_at, and the fence holds whoever claimed last.
const lazySQL = byKeySQL + ", set_config('synchronous_commit', 'off', true)"

// T5 for many. A locked row is left to its own claim. As everywhere in statements for many, state IN ('ready', ”)
// keeps the planner from the partial index of slots, where it would look at those of the whole org.
const claimAllSQL = `
WITH mine AS MATERIALIZED (
	SELECT job.org_id, job.id, m.owner
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS m (org_id, id, owner)
	JOIN job ON job.org_id = m.org_id AND job.id = m.id
	WHERE job.state IN ('ready', '') AND job.wake_at IS NOT NULL AND (job.owner IS NULL OR job.wake_at <= now())` + may + `
	FOR UPDATE OF job SKIP LOCKED
)
UPDATE job SET owner = mine.owner, wake_at = now() + $4::interval
FROM mine WHERE job.org_id = mine.org_id AND job.id = mine.id
RETURNING job.owner,` + claimed

func (c *Clerk) claimAll(ctx context.Context, load []*asked) error {
	orgs, ids, owners := make([]id.ID, len(load)), make([]id.ID, len(load)), make([]id.ID, len(load))
	byOwner := make(map[id.ID]*asked, len(load))
	for i, a := range load {
		orgs[i], ids[i], owners[i] = a.claim.Org, a.claim.ID, *a.claim.owner
		byOwner[owners[i]] = a
	}
	return c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(lazySQL + onceSQL)
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

// T8, and T9 and T10, for many.
const (
	fenceAll = `
WHERE job.org_id = m.org_id AND job.id = m.id AND job.owner = m.owner AND job.attempt = m.attempt AND job.state IN ('ready', '') AND job.wake_at IS NOT NULL
RETURNING m.owner`
	doneAllSQL = `
DELETE FROM job USING unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[]) AS m (org_id, id, owner, attempt)` + fenceAll
	failAllSQL = `
UPDATE job SET owner = NULL,
	attempt = CASE WHEN m.outcome = 'snoozed' THEN job.attempt ELSE job.attempt + 1 END,
	last_error = CASE WHEN m.outcome = 'snoozed' THEN job.last_error ELSE m.error END,
	state = CASE WHEN m.outcome = 'dead' THEN 'dead' ELSE job.state END,
	dedupe_key = CASE WHEN m.outcome = 'dead' THEN NULL ELSE job.dedupe_key END,
	run_at = CASE WHEN m.outcome = 'dead' THEN job.run_at ELSE now() + m.later * interval '1 microsecond' END,
	due = job.due AND m.outcome = 'dead',
	wake_at = CASE WHEN m.outcome = 'dead' THEN now() + $8::interval END
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::bigint[]) AS m (org_id, id, owner, attempt, outcome, error, later)` + fenceAll
)

func (c *Clerk) finishAll(ctx context.Context, load []*asked) error {
	byOwner := make(map[id.ID]*asked, len(load))
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
		outcomes, texts, later = append(outcomes, string(a.verdict.Outcome)), append(texts, a.verdict.Error), append(later, a.verdict.In.Microseconds())
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
			tx.Queue(failAllSQL, other.orgs, other.ids, other.owners, other.attempts, outcomes, texts, later, c.ledger.Lease).Query(note)
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

// fenced are the keys and fences of verdicts.
type fenced struct {
	orgs, ids, owners []id.ID
	attempts          []int
}

func (f *fenced) add(c *Claimed) {
	f.orgs, f.ids, f.owners, f.attempts = append(f.orgs, c.Org), append(f.ids, c.ID), append(f.owners, *c.owner), append(f.attempts, c.Attempt-1)
}
