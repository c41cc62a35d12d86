package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// Dispatcher enqueues jobs in asynq and resolves conflicts with tasks of the same ID. The relay, the feeder and the
// operator use it.
type Dispatcher struct {
	store   *store.Store
	enqueue *Enqueuer
	inspect *asynq.Inspector
}

// New returns a Dispatcher that uses c. It adds the hook of an Enqueuer to c.
func New(l *store.Store, c redis.UniversalClient) *Dispatcher {
	return &Dispatcher{store: l, enqueue: NewEnqueuer(c), inspect: asynq.NewInspectorFromRedisClient(c)}
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
func (d *Dispatcher) Push(ctx context.Context, refs ...queue.Ref) (Pushed, error) {
	var p Pushed
	if len(refs) == 0 {
		return p, nil
	}
	var known []queue.Ref
	for i, err := range d.enqueue.Enqueue(ctx, refs...) {
		switch {
		case err == nil:
			p.Added++
		case errors.Is(err, asynq.ErrTaskIDConflict):
			known = append(known, refs[i])
		default:
			return p, fmt.Errorf("%w: enqueue: %w", ErrAsynq, err)
		}
	}
	states, err := d.States(ctx, known)
	if err != nil {
		return p, err
	}
	for i, r := range known {
		if err := d.resolveConflict(ctx, r, states[i], &p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// States returns the state of each task in asynq, "" if the task does not exist.
func (d *Dispatcher) States(ctx context.Context, refs []queue.Ref) ([]string, error) {
	keys := make([]string, len(refs))
	for i, r := range refs {
		keys[i] = asynqx.TaskKey(r.Lane, r.TaskID())
	}
	states, err := d.enqueue.client.States(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("%w: task state: %w", ErrAsynq, err)
	}
	return states, nil
}

// resolveConflict handles a push that met an existing task.
func (d *Dispatcher) resolveConflict(ctx context.Context, r queue.Ref, state string, p *Pushed) error {
	switch state {
	case "": // deleted meanwhile
		return d.enqueueAgain(ctx, r, p)
	case "pending":
		return nil
	case "retry", "scheduled":
		// An error means that another process was faster, except for an entry that is missing from its set: no process
		// can run such an entry.
		if asynqx.IsIncomplete(d.inspect.RunTask(string(r.Lane), r.TaskID())) {
			return d.replaceTask(ctx, r, 0, p)
		}
		return nil
	case "archived", "completed":
		seen, err := d.store.MarkListed(ctx, r)
		if err != nil {
			return err
		}
		if seen {
			d.dropSuperseded(r)
			return nil
		}
		if err := d.inspect.DeleteTask(string(r.Lane), r.TaskID()); err != nil &&
			!errors.Is(err, asynq.ErrTaskNotFound) {
			return d.replaceTask(ctx, r, 0, p)
		}
		return d.enqueueAgain(ctx, r, p)
	default: // active without a run, or an unknown state
		return d.replaceTask(ctx, r, 1, p)
	}
}

// dropSuperseded deletes the task that r's task superseded. That task may have been delivered just then, after all, so
// that asynq archived both. An error is left to the sweep.
func (d *Dispatcher) dropSuperseded(r queue.Ref) {
	if r.Dispatch > 0 {
		r.Dispatch--
		_ = d.inspect.DeleteTask(string(r.Lane), r.TaskID())
	}
}

func (d *Dispatcher) enqueueAgain(ctx context.Context, r queue.Ref, p *Pushed) error {
	err := d.enqueue.Enqueue(ctx, r)[0]
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("%w: enqueue: %w", ErrAsynq, err)
	}
	p.Added++
	return nil
}

// replaceTask gives the job a new task ID in place of a task that will not deliver, and enqueues the new task.
func (d *Dispatcher) replaceTask(ctx context.Context, r queue.Ref, lost int, p *Pushed) error {
	next, err := d.store.Supersede(ctx, r, lost)
	if err != nil || !next.Free {
		return err
	}
	p.Behind++
	if next.Died {
		p.Died++
	}
	return d.enqueueAgain(ctx, next.Ref, p)
}
