package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Run is one run of a job as its work function sees it.
type Run[A any] struct {
	*Claimed
	Args A
}

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
	waited      float64       // Waited in seconds, as scanned
	owner       *id.ID        // the fence; nil if the row lock is the lease
	effects     []func(context.Context, *postgres.Tx) error
	shared      []part
	unhooked    bool // see SkipHook
}

// part is one item of a run that its Writer writes together with the items of other runs.
type part struct {
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
	c.shared = append(c.shared, part{by, item})
}

// Handler is a kind and its work function. Exactly one of Call and Tx is set.
type Handler struct {
	Kind    string
	Options Options
	// Call is the work of a call-out kind: claim, call, then complete in one fenced transaction.
	Call func(context.Context, *Claimed) error
	// Tx is the work of a kind with only rows as effects: one transaction, exactly once.
	Tx func(context.Context, *postgres.Tx, *Claimed) error
}

// Handle returns the Handler of a call-out kind. work returns nil, an error (for a retry), Drop or Snooze.
func (k Kind[A]) Handle(work func(context.Context, *Run[A]) error) Handler {
	return Handler{Kind: k.name, Options: k.opt, Call: func(ctx context.Context, c *Claimed) error {
		run, err := open[A](c)
		if err != nil {
			return err
		}
		return work(ctx, run)
	}}
}

// HandleTx returns the Handler of a kind with only rows of tx as effects. tx runs under the job's org.
func (k Kind[A]) HandleTx(work func(context.Context, *postgres.Tx, *Run[A]) error) Handler {
	return Handler{Kind: k.name, Options: k.opt, Tx: func(ctx context.Context, tx *postgres.Tx, c *Claimed) error {
		run, err := open[A](c)
		if err != nil {
			return err
		}
		return work(ctx, tx, run)
	}}
}

func open[A any](c *Claimed) (*Run[A], error) {
	run := &Run[A]{Claimed: c}
	if err := json.Unmarshal(c.Raw, &run.Args); err != nil {
		return nil, Drop(fmt.Errorf("decode args: %w", err))
	}
	return run, nil
}

type dropped struct{ error }

func (d dropped) Unwrap() error { return d.error }

type snoozed struct{ For time.Duration }

func (s snoozed) Error() string { return "snoozed for " + s.For.String() }

type retryError struct {
	error
	in time.Duration
}

func (r retryError) Unwrap() error { return r.error }

// Drop makes the job dead with err, because a retry cannot help. The row is kept.
func Drop(err error) error { return dropped{err} }

// Snooze postpones the job by d without spending an attempt.
func Snooze(d time.Duration) error { return snoozed{d} }

// RetryIn returns err as a failure that spends an attempt, with d as the delay until the next attempt.
func RetryIn(err error, d time.Duration) error { return retryError{err, d} }

// IsDrop reports whether err wraps Drop.
func IsDrop(err error) bool {
	_, ok := errors.AsType[dropped](err)
	return ok
}

// SnoozeOf returns the delay of err if err wraps Snooze.
func SnoozeOf(err error) (time.Duration, bool) {
	s, ok := errors.AsType[snoozed](err)
	return s.For, ok
}

// RetryOf returns the delay of err if err wraps RetryIn.
func RetryOf(err error) (time.Duration, bool) {
	r, ok := errors.AsType[retryError](err)
	return r.in, ok
}
