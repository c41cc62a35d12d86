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

// Run is one run of a job, as its Work sees it.
type Run[A any] struct {
	*Claimed
	Args A
}

// Claimed is a job that this process holds. Pass ID as the idempotency key of what the run calls.
type Claimed struct {
	ID          id.ID
	Org         id.ID
	Kind        string
	Raw         json.RawMessage // the args as stored
	Attempt     int             // which try this is, from 1; kills and snoozes do not count
	MaxAttempts int
	CreatedAt   time.Time
	Lane        Lane
	Waited      time.Duration // from when it was due to the claim, by the database's clock
	waited      float64       // the same as it is read, in seconds
	owner       *id.ID        // the fence; nil where the row lock is the lease
	effects     []func(context.Context, *postgres.Tx) error
	shared      []part
	unhooked    bool // see SkipHook
}

// part is what a run wants written together with what others want.
type part struct {
	by   Writer
	item any
}

// Writer writes what several runs of one org left, in as few statements as it can. It queues them and awaits
// nothing; what it writes is in the items, of which there is at least one. It is a pointer: runs that name the same
// one write together.
type Writer interface {
	Write(tx *postgres.Tx, items []any) error
}

// Last tells whether a failure now would be the last.
func (c *Claimed) Last() bool { return c.Attempt >= c.MaxAttempts }

// Effect adds rows to the transaction that ends this run, whatever its verdict: they are written if and only
// if the verdict is. It is for call-out kinds; a Tx kind writes in the transaction that it was given. A commit
// that has to be repeated runs write again.
func (c *Claimed) Effect(write func(context.Context, *postgres.Tx) error) {
	c.effects = append(c.effects, write)
}

// Share is Effect for rows that by can write for many runs at once. Runs that are done, and have no other effects,
// share the transaction that ends them; each one's item is written if and only if its own verdict is. It may be
// written again after an error, and by another goroutine: item must not change any more.
func (c *Claimed) Share(by Writer, item any) {
	c.shared = append(c.shared, part{by, item})
}

// Handler is a kind together with its work; exactly one of Call and Tx is set.
type Handler struct {
	Kind    string
	Options Options
	// Call is the work of a kind that calls out: claim, call, finish in one fenced transaction.
	Call func(context.Context, *Claimed) error
	// Tx is the work of a kind whose effects are only rows: one transaction, exactly once.
	Tx func(context.Context, *postgres.Tx, *Claimed) error
}

// Handle ties k to work that calls out. Work returns nil, an error (another try), Drop or Snooze.
func (k Kind[A]) Handle(work func(context.Context, *Run[A]) error) Handler {
	return Handler{Kind: k.name, Options: k.opt, Call: func(ctx context.Context, c *Claimed) error {
		run, err := open[A](c)
		if err != nil {
			return err
		}
		return work(ctx, run)
	}}
}

// HandleTx ties k to work whose effects are rows of tx alone, which is under the job's org.
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

// Drop ends the job for good with err: trying again cannot help. The row is kept as dead.
func Drop(err error) error { return dropped{err} }

// Snooze puts the job off by d without spending a try.
func Snooze(d time.Duration) error { return snoozed{d} }

// RetryIn is err, a failure that spends a try, with the wait until the next one chosen by the work.
func RetryIn(err error, d time.Duration) error { return retryError{err, d} }

// IsDrop tells whether err carries Drop.
func IsDrop(err error) bool { _, ok := errors.AsType[dropped](err); return ok }

// SnoozeOf answers the wait that err carries, if it is a Snooze.
func SnoozeOf(err error) (time.Duration, bool) {
	s, ok := errors.AsType[snoozed](err)
	return s.For, ok
}

// RetryOf answers the wait that err carries, if the work chose one.
func RetryOf(err error) (time.Duration, bool) {
	r, ok := errors.AsType[retryError](err)
	return r.in, ok
}
