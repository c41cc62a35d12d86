package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Dispatcher enqueues jobs in asynq and resolves conflicts with tasks of the same ID. The relay, the feeder and the
// operator use it.
type Dispatcher struct {
	ledger  *Store
	redis   redis.UniversalClient
	enqueue *Enqueuer
	inspect *asynq.Inspector
}

// NewDispatcher returns a Dispatcher that uses c. It adds the hook of an Enqueuer to c.
func NewDispatcher(l *Store, c redis.UniversalClient) *Dispatcher {
	return &Dispatcher{ledger: l, redis: c, enqueue: NewEnqueuer(c), inspect: asynq.NewInspectorFromRedisClient(c)}
}

// ErrAsynq marks an error of a push that came from Redis. Other errors come from Postgres.
var ErrAsynq = errors.New("asynq")

// Pushed is the result of a push.
type Pushed struct {
	Added  int // new tasks in asynq
	Behind int // undeliverable tasks superseded by a new ID
	Died   int // jobs that lost their worker too often
}

// Push makes asynq deliver the jobs, or archive them if they are dead. An error comes from Redis or Postgres. On an
// error some of the jobs may have been pushed; the relay checks their rows again in any case.
func (c *Dispatcher) Push(ctx context.Context, refs ...Ref) (Pushed, error) {
	var p Pushed
	if len(refs) == 0 {
		return p, nil
	}
	var known []Ref
	for i, err := range c.enqueue.Enqueue(ctx, refs...) {
		switch {
		case err == nil:
			p.Added++
		case errors.Is(err, asynq.ErrTaskIDConflict):
			known = append(known, refs[i])
		default:
			return p, fmt.Errorf("%w: enqueue: %w", ErrAsynq, err)
		}
	}
	states, err := c.states(ctx, known)
	if err != nil {
		return p, err
	}
	for i, r := range known {
		if err := c.resolveConflict(ctx, r, states[i], &p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// states reads the state of each task in asynq, "" if the task does not exist. It reads the field directly because
// Inspector.GetTaskInfo costs a round trip per task, takes no context, and fails on the broken entries that occur here.
func (c *Dispatcher) states(ctx context.Context, refs []Ref) ([]string, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	pipe := c.redis.Pipeline()
	cmds := make([]*redis.StringCmd, len(refs))
	for i, r := range refs {
		cmds[i] = pipe.HGet(ctx, "asynq:{"+string(r.Lane)+"}:t:"+r.TaskID(), "state")
	}
	_, _ = pipe.Exec(ctx) // errors are per command
	out := make([]string, len(refs))
	for i, cmd := range cmds {
		state, err := cmd.Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("%w: task state: %w", ErrAsynq, err)
		}
		out[i] = state
	}
	return out, nil
}

// resolveConflict handles a push that met an existing task.
func (c *Dispatcher) resolveConflict(ctx context.Context, r Ref, state string, p *Pushed) error {
	switch state {
	case "": // deleted meanwhile
		return c.enqueueAgain(ctx, r, p)
	case "pending":
		return nil
	case "retry", "scheduled":
		// An error means that another process was faster, except for an entry that is missing from its set: no process
		// can run such an entry.
		if err := c.inspect.RunTask(string(r.Lane), r.TaskID()); err != nil &&
			strings.Contains(err.Error(), "not found in zset") {
			return c.supersede(ctx, r, 0, p)
		}
		return nil
	case "archived", "completed":
		seen, err := c.markListed(ctx, r)
		if err != nil || seen {
			return err
		}
		if err := c.inspect.DeleteTask(string(r.Lane), r.TaskID()); err != nil &&
			!errors.Is(err, asynq.ErrTaskNotFound) {
			return c.supersede(ctx, r, 0, p)
		}
		return c.enqueueAgain(ctx, r, p)
	default: // active without a run, or an unknown state
		return c.supersede(ctx, r, 1, p)
	}
}

func (c *Dispatcher) enqueueAgain(ctx context.Context, r Ref, p *Pushed) error {
	err := c.enqueue.one(ctx, r)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("%w: enqueue: %w", ErrAsynq, err)
	}
	p.Added++
	return nil
}

// markListed clears wake_at of a dead row that asynq lists under Archived.
func (c *Dispatcher) markListed(ctx context.Context, r Ref) (bool, error) {
	var n int64
	err := c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		n, err = tx.Exec(ctx, "UPDATE job SET wake_at = NULL WHERE org_id = $1 AND id = $2 AND state = 'dead'", r.Org,
			r.ID)
		return err
	})
	return n > 0, err
}

// leaveSQL raises dispatch, so that the job gets a task with a new ID. It leaves alone a row that is being run, by
// owner or by lock, because that row's task does deliver. The 20th loss makes the row dead, and the new task lists it
// under Archived.
const leaveSQL = `
UPDATE job SET dispatch = job.dispatch + 1,
	losses = job.losses + due.lost,
	state = CASE WHEN due.fatal THEN 'dead' ELSE job.state END,
	dedupe_key = CASE WHEN due.fatal THEN NULL ELSE job.dedupe_key END,
	last_error = CASE WHEN due.fatal THEN $6 ELSE job.last_error END,
	wake_at = CASE WHEN due.fatal THEN now() + $7::interval ELSE job.wake_at END
FROM (
	SELECT org_id, id, CASE WHEN state = 'ready' THEN $4::int ELSE 0 END AS lost,
		state = 'ready' AND $4::int > 0 AND losses + $4::int >= $5 AS fatal
	FROM job
	WHERE org_id = $1 AND id = $2 AND dispatch = $3 AND owner IS NULL AND wake_at IS NOT NULL
	FOR UPDATE SKIP LOCKED
) AS due
WHERE job.org_id = due.org_id AND job.id = due.id
RETURNING job.dispatch, due.fatal, job.kind, job.args`

// supersede gives the job a new task ID in place of a task that will not deliver.
func (c *Dispatcher) supersede(ctx context.Context, r Ref, lost int, p *Pushed) error {
	var free, fatal bool
	err := c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		job := changed{org: r.Org}
		tx.Queue(leaveSQL, r.Org, r.ID, r.Dispatch, lost, MaxLosses,
			fmt.Sprintf("lost its worker %d times", MaxLosses), c.ledger.Lease).
			Query(func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&r.Dispatch, &fatal, &job.kind, &job.args}, func() error {
					free = true
					return nil
				})
				return err
			})
		if err := tx.Flush(ctx); err != nil || !fatal {
			return err
		}
		return c.ledger.Hooks.run(ctx, tx, stopped, []changed{job})
	})
	if err != nil || !free {
		return err
	}
	p.Behind++
	if fatal {
		p.Died++
	}
	return c.enqueueAgain(ctx, r, p)
}
