package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Run is one run of a job as its work function sees it.
type Run[A any] struct {
	*Claimed
	Args A
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
		run, err := openRun[A](c)
		if err != nil {
			return err
		}
		return work(ctx, run)
	}}
}

// HandleTx returns the Handler of a kind with only rows of tx as effects. tx runs under the job's org.
func (k Kind[A]) HandleTx(work func(context.Context, *postgres.Tx, *Run[A]) error) Handler {
	return Handler{Kind: k.name, Options: k.opt, Tx: func(ctx context.Context, tx *postgres.Tx, c *Claimed) error {
		run, err := openRun[A](c)
		if err != nil {
			return err
		}
		return work(ctx, tx, run)
	}}
}

func openRun[A any](c *Claimed) (*Run[A], error) {
	run := &Run[A]{Claimed: c}
	if err := json.Unmarshal(c.Raw, &run.Args); err != nil {
		return nil, Drop(fmt.Errorf("decode args: %w", err))
	}
	return run, nil
}

// ErrLeaseLost is the cause of the end of a run's context if its lease was not extended: Postgres is away, or another
// run has the job. The process is not stopping.
var ErrLeaseLost = errors.New("the run lost its job")

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
