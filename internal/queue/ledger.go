package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The protocol's constants. job_wake in the migrations knows First, Window, Lines and Slots too.
const (
	Lease  = 20 * time.Second // how long a claim or an extension lasts, and the time until the next look
	First  = 3 * time.Second  // the time until the first look after a push
	Window = 50               // jobs without a line, of one org and lane, that are in Redis or running, times the org's weight
	Lines  = 100              // the same of all lines of an org and lane together: a line may have what they leave free of it
	Slots  = 10               // the same of one line, at most
	// MaxLosses is how often a run may vanish before its job is dead: the bound on a job that kills its worker.
	MaxLosses = 20
)

// Ledger is the job table as workers, relay and feeder see it: each method is one transition of the protocol
// in one short transaction, and what it tells asynq is up to the caller, after it returned.
type Ledger struct {
	App    *postgres.DB // claims and verdicts, under the job's org
	System *postgres.DB // extensions, looks, feeding: all orgs
	// Lease and First stand for the constants of the same name; tests shorten them.
	Lease, First time.Duration
	// Hooks are told what becomes of jobs without a run. Every process that has a ledger needs the same.
	Hooks Hooks

	mu    sync.Mutex
	from  map[Lane]spot           // where the feeder goes on when there are more groups than one round looks at
	short map[Lane]map[id.ID]bool // see Short
}

// NewLedger is a ledger with the protocol's own times.
func NewLedger(app, system *postgres.DB) *Ledger {
	return &Ledger{App: app, System: system, Lease: Lease, First: First}
}

// ErrMissed is a claim that found nothing to claim: the job is gone, waits, or is run by another.
var ErrMissed = errors.New("nothing to claim")

const claimed = ` job.kind, job.args, job.lane, job.attempt, job.max_attempts, job.created_at, extract(epoch FROM clock_timestamp() - job.run_at)::float8`

// may is the rest of a claim's predicate: nothing that is paused begins to run, and nothing of a line that is held.
// Such a row keeps its slot, or has lost it to HoldLine, and is looked at or fed when that is over.
const may = ` AND NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('lane', job.lane), ('kind', job.kind), ('org', job.org_id::text)))
	AND (job.line IS NULL OR NOT EXISTS (SELECT FROM job_line l WHERE l.org_id = job.org_id AND l.id = job.line AND l.held_until > now()))`

// T5. A row whose owner let its lease lapse may be taken from it; the fence is the new owner.
const claimSQL = `
UPDATE job SET owner = $3, wake_at = now() + $4::interval
WHERE org_id = $1 AND id = $2 AND state = 'ready' AND wake_at IS NOT NULL AND (owner IS NULL OR wake_at <= now())` + may + `
RETURNING` + claimed

// T6. The row lock is the lease, and ends with the session that holds it.
const lockSQL = `
SELECT` + claimed + `
FROM job
WHERE org_id = $1 AND id = $2 AND state = 'ready' AND wake_at IS NOT NULL AND owner IS NULL` + may + `
FOR UPDATE OF job SKIP LOCKED`

// Claim is T5: from here on this process holds the job until a verdict, or until its lease lapses. ErrMissed
// where there is nothing to claim.
func (l *Ledger) Claim(ctx context.Context, org, job id.ID) (*Claimed, error) {
	owner := id.New()
	c := &Claimed{ID: job, Org: org, owner: &owner}
	err := l.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(claimSQL, org, job, owner, l.Lease).QueryRow(c.scan)
		return nil
	})
	if postgres.None(err) {
		return nil, ErrMissed
	}
	return c, err
}

// Lock is T6: the job is held as long as tx is open. ErrMissed where there is nothing to claim.
func (l *Ledger) Lock(ctx context.Context, tx *postgres.Tx, job id.ID) (*Claimed, error) {
	c := &Claimed{ID: job, Org: tx.Org()}
	rows, err := tx.Query(ctx, lockSQL, tx.Org(), job)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return nil, ErrMissed
	}
	if err := c.scan(rows); err != nil {
		return nil, err
	}
	rows.Close()
	return c, rows.Err()
}

func (c *Claimed) scan(row pgx.Row) error {
	if err := row.Scan(c.columns()...); err != nil {
		return err
	}
	c.settle()
	return nil
}

// columns is where the columns of claimed go; settle makes the rest of them.
func (c *Claimed) columns() []any {
	return []any{&c.Kind, &c.Raw, &c.Lane, &c.Attempt, &c.MaxAttempts, &c.CreatedAt, &c.waited}
}

func (c *Claimed) settle() {
	c.Attempt, c.Waited = c.Attempt+1, time.Duration(c.waited*float64(time.Second))
}

// Owner is the fence of a claim, and the zero ID where the row lock is the lease.
func (c *Claimed) Owner() id.ID {
	if c.owner == nil {
		return id.ID{}
	}
	return *c.owner
}

// Dead answers the last error of a dead job, and whether it is dead: the answer to a claim that missed.
func (l *Ledger) Dead(ctx context.Context, org, job id.ID) (why string, attempts, of int, dead bool, err error) {
	err = l.App.View(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT last_error, attempt, max_attempts FROM job WHERE org_id = $1 AND id = $2 AND state = 'dead'",
			[]any{org, job}, &why, &attempts, &of)
	})
	if postgres.None(err) {
		return "", 0, 0, false, nil
	}
	return why, attempts, of, err == nil, err
}

// T7, for all runs of a process at once. Rows are found by their key; owner has no index.
const extendSQL = `
UPDATE job SET wake_at = now() + $4::interval
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS mine (org_id, id, owner)
WHERE job.org_id = mine.org_id AND job.id = mine.id AND job.owner = mine.owner
RETURNING job.owner`

// Extend is T7: it renews the leases of all runs and answers the owners that still hold theirs. Whoever is not
// among them has lost its job.
func (l *Ledger) Extend(ctx context.Context, runs []*Claimed) (map[id.ID]bool, error) {
	orgs, ids, owners := make([]id.ID, len(runs)), make([]id.ID, len(runs)), make([]id.ID, len(runs))
	for i, c := range runs {
		orgs[i], ids[i], owners[i] = c.Org, c.ID, c.Owner()
	}
	held := make(map[id.ID]bool, len(runs))
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(lazySQL)
		tx.Queue(extendSQL, orgs, ids, owners, l.Lease).Query(func(rows pgx.Rows) error {
			var owner id.ID
			_, err := pgx.ForEachRow(rows, []any{&owner}, func() error { held[owner] = true; return nil })
			return err
		})
		return nil
	})
	return held, err
}
