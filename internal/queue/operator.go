package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Operator is what people do to jobs: T12 to T14, redrives, pauses, and the search for what to do it to. Each act
// is one short transaction with its entry in the audit, in which the ledger's hooks are told of it; what asynq should know follows the commit, best effort,
// because the relay brings whatever did not get there. A Redis that is away stops no act.
type Operator struct {
	ledger  *Ledger
	redis   redis.UniversalClient
	courier *Courier
	inspect *asynq.Inspector
	recent  int // see the constant
}

// NewOperator acts on l's jobs and tells the asynq in c, to which it adds the hook of an Enqueuer. Without c it
// tells nobody, and the relay finds what it did.
func NewOperator(l *Ledger, c redis.UniversalClient) *Operator {
	o := &Operator{ledger: l, redis: c, recent: recent}
	if c != nil {
		o.courier, o.inspect = NewCourier(l, c), asynq.NewInspectorFromRedisClient(c)
	}
	return o
}

// By is who acts, and why.
type By struct {
	Actor  string
	Reason string
	// Scope says in the audit what the jobs have in common, where they were not named one by one.
	Scope string
}

// Key names a job.
type Key struct {
	Org id.ID `json:"org_id"`
	ID  id.ID `json:"id"`
}

// Result is what an act came to for one job.
type Result string

// The results.
const (
	Acted Result = "done"
	Held  Result = "held" // a run has the job: nothing was changed
	Gone  Result = "gone" // there is no such job
	Unfit Result = "dead" // an act on open jobs met a dead one: nothing was changed
)

// ErrUnreasoned is an act that wants a reason and got none.
var ErrUnreasoned = errors.New("a reason is needed")

// actBatch is how many jobs one transaction acts on.
const actBatch = 500

// The acts by name, as the audit has them.
const (
	actRun     = "run"
	actArchive = "archive"
	actDrop    = "drop"
)

// free locks what may be acted on. What a run or another statement has locked is passed over and asked for again.
const free = `
WITH free AS MATERIALIZED (
	SELECT job.org_id, job.id, job.state FROM unnest($1::uuid[], $2::uuid[]) AS asked (org_id, id)
	JOIN job ON job.org_id = asked.org_id AND job.id = asked.id
	WHERE job.owner IS NULL%s
	FOR UPDATE OF job SKIP LOCKED
), acted AS (%s
	RETURNING` + ref + `,` + notPaused + ` AS due, job.args
), noted AS (
	INSERT INTO job_act (id, actor, act, scope, jobs, count, reason)
	SELECT $3, $4, $5, $6, array_agg(acted.id), count(*), $7 FROM acted HAVING count(*) > 0
)
SELECT acted.* FROM acted`

// revive is what T12 does to a row: a dead job begins anew.
const revive = `state = 'ready', run_at = now(),
	attempt = CASE WHEN free.state = 'dead' THEN 0 ELSE job.attempt END,
	losses = CASE WHEN free.state = 'dead' THEN 0 ELSE job.losses END`

var (
	// T12
	runNowSQL = fmt.Sprintf(free, "", `
	UPDATE job SET `+revive+`, wake_at = now()
	FROM free WHERE job.org_id = free.org_id AND job.id = free.id`)
	// T13. As for every dead job its key goes: it must not keep its successors out.
	archiveSQL = fmt.Sprintf(free, " AND job.state = 'ready'", `
	UPDATE job SET state = 'dead', dedupe_key = NULL, run_at = now(), wake_at = now() + $8::interval, last_error = $9
	FROM free WHERE job.org_id = free.org_id AND job.id = free.id`)
	// T14
	deleteSQL = fmt.Sprintf(free, "", `
	DELETE FROM job USING free WHERE job.org_id = free.org_id AND job.id = free.id`)
)

// Run is T12: the jobs run now, or, where they are paused, as soon as they are not; a dead one begins anew. The
// answer has one result for each key.
func (o *Operator) Run(ctx context.Context, by By, keys ...Key) ([]Result, error) {
	return o.act(ctx, by, actRun, runNowSQL, keys, nil, o.push)
}

// Archive is T13: open jobs are dead, until somebody runs or drops them.
func (o *Operator) Archive(ctx context.Context, by By, keys ...Key) ([]Result, error) {
	said := "archived by " + by.Actor
	if by.Reason != "" {
		said += ": " + by.Reason
	}
	return o.act(ctx, by, actArchive, archiveSQL, keys, []any{o.ledger.First, said}, o.archive)
}

// Drop is T14: the jobs are no more. It wants a reason.
func (o *Operator) Drop(ctx context.Context, by By, keys ...Key) ([]Result, error) {
	if by.Reason == "" {
		return nil, ErrUnreasoned
	}
	return o.act(ctx, by, actDrop, deleteSQL, keys, nil, o.remove)
}

// touched is a row that an act changed.
type touched struct {
	Ref
	due  bool // not paused
	args json.RawMessage
}

// columns is where the columns that an act returns go.
func (t *touched) columns() []any {
	return []any{&t.Org, &t.ID, &t.Kind, &t.Lane, &t.MaxAttempts, &t.Dispatch, &t.due, &t.args}
}

// hooks calls the hooks of the rows that an act of that name changed, in the act's transaction.
func (o *Operator) hooks(ctx context.Context, tx *postgres.Tx, name string, rows []touched) error {
	jobs := make([]changed, len(rows))
	for i, t := range rows {
		jobs[i] = changed{t.Org, t.Kind, t.args}
	}
	if name == actRun {
		return o.ledger.Hooks.run(ctx, tx, revived, jobs)
	}
	return o.ledger.Hooks.run(ctx, tx, stopped, jobs)
}

func (o *Operator) act(ctx context.Context, by By, name, sql string, keys []Key, more []any, tell func(context.Context, []touched)) ([]Result, error) {
	out := make([]Result, len(keys))
	for from := 0; from < len(keys); from += actBatch {
		to := min(from+actBatch, len(keys))
		if err := o.batch(ctx, by, name, sql, keys[from:to], out[from:to], more, tell); err != nil {
			return out, err
		}
	}
	return out, nil
}

// batch acts on keys and fills in their results. The relay and the feeder hold a row for a moment, so that what
// seems locked is tried again; what is locked for longer is being run.
func (o *Operator) batch(ctx context.Context, by By, name, sql string, keys []Key, out []Result, more []any, tell func(context.Context, []touched)) error {
	for try := 0; ; try++ {
		at := make(map[Key]bool)
		var orgs, ids []id.ID
		for i, k := range keys {
			if out[i] == "" && !at[k] {
				at[k] = true
				orgs, ids = append(orgs, k.Org), append(ids, k.ID)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		var rows []touched
		met := make(map[Key]Result)
		err := o.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			args := append([]any{orgs, ids, id.New(), by.Actor, name, by.Scope, by.Reason}, more...)
			tx.Queue(sql, args...).Query(func(r pgx.Rows) error {
				var t touched
				_, err := pgx.ForEachRow(r, t.columns(), func() error {
					rows, met[Key{t.Org, t.ID}] = append(rows, t), Acted
					t.args = nil // the next scan must not write into the array of this row
					return nil
				})
				return err
			})
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			return o.hooks(ctx, tx, name, rows)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(rows) < len(ids) {
			if err := o.why(ctx, name, orgs, ids, met); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		for i, k := range keys {
			if r := met[k]; out[i] == "" && (r != "" || try == len(patience)) {
				out[i] = Held
				if r != "" {
					out[i] = r
				}
			}
		}
		tell(ctx, rows)
		if try == len(patience) {
			return nil
		}
		if len(met) < len(ids) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(patience[try]):
			}
		}
	}
}

// patience is how long an act waits for rows that somebody has locked.
var patience = [...]time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}

// why fills in what is known of the jobs that an act did not touch; nothing of those that were only locked.
func (o *Operator) why(ctx context.Context, name string, orgs, ids []id.ID, met map[Key]Result) error {
	const sql = `
SELECT asked.org_id, asked.id, job.id IS NULL, job.owner IS NOT NULL, job.state = 'dead'
FROM unnest($1::uuid[], $2::uuid[]) AS asked (org_id, id)
LEFT JOIN job ON job.org_id = asked.org_id AND job.id = asked.id`
	return o.ledger.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(sql, orgs, ids).Query(func(rows pgx.Rows) error {
			var k Key
			var gone bool
			var run, dead *bool
			_, err := pgx.ForEachRow(rows, []any{&k.Org, &k.ID, &gone, &run, &dead}, func() error {
				switch {
				case met[k] != "":
				case gone:
					met[k] = Gone
				case *run:
					met[k] = Held
				case *dead && name == actArchive:
					met[k] = Unfit
				}
				return nil
			})
			return err
		})
		return nil
	})
}
