package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Claimed is a job that this process has claimed. Pass ID as the idempotency key to the services that the run calls.
type Claimed struct {
	ID          id.ID
	Org         id.ID
	Kind        string
	Raw         json.RawMessage // the args as stored
	Attempt     int             // this attempt, from 1; kills and snoozes do not count
	MaxAttempts int
	CreatedAt   time.Time
	Lane        Lane
	Waited      time.Duration // from due to claimed, by the database's clock
	Fence       *id.ID        // the owner in the row; nil if the row lock is the lease
	Traceparent string        // of the span that added the job; "" if it was not traced
	effects     []func(context.Context, *postgres.Tx) error
	items       []EffectItem
	unhooked    bool // see SkipHook
	dropped     bool // see DropEffects
	ends        []func(written bool)
	beginCall   func(host string) time.Duration
}

// EffectItem is one item of a run that its Writer writes together with the items of other runs.
type EffectItem struct {
	by   Writer
	item any
}

// Writer writes the items of several runs of one org in as few statements as possible. It must only queue statements
// and not wait for them. items has at least one element. A Writer must be a pointer: runs with the same pointer are
// written together.
type Writer interface {
	Write(tx *postgres.Tx, items []any) error
}

// Last reports whether this is the last attempt.
func (c *Claimed) Last() bool { return c.Attempt >= c.MaxAttempts }

// Effect adds writes to the transaction that ends this run, whatever its outcome: they are written if and only if the
// completion is. It is for call-out kinds; a Tx kind writes in the transaction that it was given. write runs again if
// the commit is repeated.
func (c *Claimed) Effect(write func(context.Context, *postgres.Tx) error) {
	c.effects = append(c.effects, write)
}

// EffectBatch is like Effect, for rows that by can write for many runs at once. Runs that are done and have no other
// effects share the transaction that ends them. Each run's item is written if and only if its own completion is. After
// an error the item may be written again, also by another goroutine, so item must not change any more.
func (c *Claimed) EffectBatch(by Writer, item any) {
	c.items = append(c.items, EffectItem{by, item})
}

// HasEffects reports whether Effect was called.
func (c *Claimed) HasEffects() bool { return len(c.effects) > 0 }

// EffectItems returns the items of EffectBatch.
func (c *Claimed) EffectItems() []EffectItem { return c.items }

// WriteEffects writes the effects and the items of the run in tx.
func (c *Claimed) WriteEffects(ctx context.Context, tx *postgres.Tx) error {
	for _, write := range c.effects {
		if err := write(ctx, tx); err != nil {
			return err
		}
	}
	return WriteItems(tx, c.items)
}

// DropEffects discards the effects of a run if they cannot be written.
func (c *Claimed) DropEffects() { c.effects, c.items, c.dropped = nil, nil, true }

// AfterRun adds a function that is called when nothing more is written for this run. written reports whether its
// effects were committed. It is for call-out kinds.
func (c *Claimed) AfterRun(end func(written bool)) { c.ends = append(c.ends, end) }

// EndRun calls the functions of AfterRun. completed reports whether the completion of the run was committed, with the
// effects unless they were dropped.
func (c *Claimed) EndRun(completed bool) {
	for _, end := range c.ends {
		end(completed && !c.dropped)
	}
	c.ends = nil
}

// EndLostRun queues that the run with the fence is done, if it still holds its job: the job is deleted, and a
// completion of the run that is still under way is refused. It is for a run that has ended without its completion.
func EndLostRun(tx *postgres.Tx, job, fence id.ID) {
	tx.Queue(`DELETE FROM job WHERE org_id = $1 AND id = $2 AND owner = $3`, tx.Org(), job, fence)
}

// WriteItems calls each writer once with all of its items.
func WriteItems(tx *postgres.Tx, items []EffectItem) error {
	for len(items) > 0 {
		by := items[0].by
		var own []any
		var others []EffectItem
		for _, i := range items {
			if i.by == by {
				own = append(own, i.item)
			} else {
				others = append(others, i)
			}
		}
		if err := by.Write(tx, own); err != nil {
			return err
		}
		items = others
	}
	return nil
}

// Owner returns the fence of a claim, or the zero ID if the row lock is the lease.
func (c *Claimed) Owner() id.ID {
	if c.Fence == nil {
		return id.ID{}
	}
	return *c.Fence
}

// SkipHook makes the store skip the kind's hook when the job becomes dead. It is for a run with a failing hook.
func (c *Claimed) SkipHook() { c.unhooked = true }

// SkipsHook reports whether SkipHook was called.
func (c *Claimed) SkipsHook() bool { return c.unhooked }
