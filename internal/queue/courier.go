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

// Courier pushes jobs that Postgres wants in asynq, and knows what to do where asynq has a task of that name
// already. It is the relay's, the feeder's and the operator's.
type Courier struct {
	ledger  *Ledger
	redis   redis.UniversalClient
	enqueue *Enqueuer
	inspect *asynq.Inspector
}

// NewCourier uses c, to which it adds the hook of an Enqueuer.
func NewCourier(l *Ledger, c redis.UniversalClient) *Courier {
	return &Courier{ledger: l, redis: c, enqueue: NewEnqueuer(c), inspect: asynq.NewInspectorFromRedisClient(c)}
}

// ErrAsynq is an error of a push that is Redis's; any other is Postgres's.
var ErrAsynq = errors.New("asynq")

// Pushed is what became of a push.
type Pushed struct {
	Added  int // tasks that are new in asynq
	Behind int // tasks that could not deliver and were left behind under their old name
	Died   int // jobs that lost their worker too often
}

// Push makes asynq deliver the jobs, or list them where they are dead. An error is Redis's or Postgres's, and
// some of the jobs may have been pushed; their rows are looked at again in any case.
func (c *Courier) Push(ctx context.Context, refs ...Ref) (Pushed, error) {
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
		if err := c.meet(ctx, r, states[i], &p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// states reads what asynq holds each task to be; "" where the task is gone. It reads the field itself, and not
// by Inspector.GetTaskInfo, which costs a round trip each, knows no context, and fails on the broken entries
// that are to be found here.
func (c *Courier) states(ctx context.Context, refs []Ref) ([]string, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	pipe := c.redis.Pipeline()
	cmds := make([]*redis.StringCmd, len(refs))
	for i, r := range refs {
		cmds[i] = pipe.HGet(ctx, "asynq:{"+string(r.Lane)+"}:t:"+r.TaskID(), "state")
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
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

// meet is what a push does about a task that has been there before it.
func (c *Courier) meet(ctx context.Context, r Ref, state string, p *Pushed) error {
	switch state {
	case "": // gone since
		return c.again(ctx, r, p)
	case "pending":
		return nil
	case "retry", "scheduled":
		// An error means that somebody was quicker, but for an entry without its place in the set: no one
		// will ever be.
		if err := c.inspect.RunTask(string(r.Lane), r.TaskID()); err != nil && strings.Contains(err.Error(), "not found in zset") {
			return c.leave(ctx, r, 0, p)
		}
		return nil
	case "archived", "completed":
		seen, err := c.seen(ctx, r)
		if err != nil || seen {
			return err
		}
		if err := c.inspect.DeleteTask(string(r.Lane), r.TaskID()); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
			return c.leave(ctx, r, 0, p)
		}
		return c.again(ctx, r, p)
	default: // active without a run, or a state that asynq does not have
		return c.leave(ctx, r, 1, p)
	}
}

func (c *Courier) again(ctx context.Context, r Ref, p *Pushed) error {
	err := c.enqueue.one(ctx, r)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil // somebody was quicker
	}
	if err != nil {
		return fmt.Errorf("%w: enqueue: %w", ErrAsynq, err)
	}
	p.Added++
	return nil
}

// seen ends the looks at a dead row that asynq lists.
func (c *Courier) seen(ctx context.Context, r Ref) (bool, error) {
	var n int64
	err := c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		n, err = tx.Exec(ctx, "UPDATE job SET wake_at = NULL WHERE org_id = $1 AND id = $2 AND state = 'dead'", r.Org, r.ID)
		return err
	})
	return n > 0, err
}

// leaveSQL raises dispatch, so that the job gets a task of a new name. A row that is being run, by owner or by
// lock, is left alone: its task does deliver. At the 20th loss the row is dead, and the new task lists it.
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

// leave leaves a task behind that will not deliver.
func (c *Courier) leave(ctx context.Context, r Ref, lost int, p *Pushed) error {
	var free, fatal bool
	err := c.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		job := changed{org: r.Org}
		tx.Queue(leaveSQL, r.Org, r.ID, r.Dispatch, lost, MaxLosses, fmt.Sprintf("lost its worker %d times", MaxLosses), c.ledger.Lease).
			Query(func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&r.Dispatch, &fatal, &job.kind, &job.args}, func() error { free = true; return nil })
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
	return c.again(ctx, r, p)
}
