package queue

import (
	"context"
	"time"
)

// askAsynq is how long an act waits for a sign of life before it leaves Redis to the relay.
const askAsynq = time.Second

// tells tells whether asynq can be told something now. A client that is patient by itself would make an act
// wait for a Redis that is away.
func (o *Operator) tells(ctx context.Context, rows int) bool {
	if rows == 0 || o.redis == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askAsynq)
	defer cancel()
	return o.redis.Ping(ctx).Err() == nil
}

// push has asynq deliver what T12 made due. What is paused stays in Postgres.
func (o *Operator) push(ctx context.Context, rows []touched) {
	if !o.tells(ctx, len(rows)) {
		return
	}
	var refs []Ref
	for _, r := range rows {
		if r.due {
			refs = append(refs, r.Ref)
		}
	}
	_, _ = o.courier.Push(ctx, refs...) // the relay comes within a second
}

// archive lists what T13 made dead. A task that is being delivered just now misses its claim and is listed so.
func (o *Operator) archive(ctx context.Context, rows []touched) {
	o.each(ctx, rows, func(r Ref, state string) error {
		if state == "archived" || state == "active" {
			return nil
		}
		return o.inspect.ArchiveTask(string(r.Lane), r.TaskID())
	})
}

// remove takes the tasks of what T14 deleted away. One that is being delivered vanishes by itself.
func (o *Operator) remove(ctx context.Context, rows []touched) {
	o.each(ctx, rows, func(r Ref, state string) error {
		if state == "active" {
			return nil
		}
		return o.inspect.DeleteTask(string(r.Lane), r.TaskID())
	})
}

// each does something about those tasks that asynq has. Whatever goes wrong is mended by the relay or the sweep.
func (o *Operator) each(ctx context.Context, rows []touched, do func(r Ref, state string) error) {
	if !o.tells(ctx, len(rows)) {
		return
	}
	refs := make([]Ref, len(rows))
	for i, r := range rows {
		refs[i] = r.Ref
	}
	states, err := o.courier.states(ctx, refs)
	if err != nil {
		return
	}
	for i, state := range states {
		if state == "" {
			continue
		}
		if err := do(refs[i], state); err != nil && !o.tells(ctx, 1) {
			return
		}
	}
}
