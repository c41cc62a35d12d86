package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/telemetry"
)

const (
	statement   = 5 * time.Second // timeout of one claim or completion
	unknownKind = time.Minute     // snooze of a job with a kind that this binary lacks
	// requeued is the longest time that a stopped delivery waits for asynq to requeue it at shutdown, which ends its
	// context. Returning earlier would prevent that. In all other cases asynq has already given the delivery up.
	requeued = 2 * handOver
)

// Outcomes in addition to package queue's.
const (
	fenced = "fenced" // the completion came too late
	letGo  = "let_go" // Postgres was unavailable; the lease expires
)

// Results of a claim.
const (
	claimed     = "claimed"
	claimFailed = "failed"
)

// deliverTask runs a task's job. The log lines of the run have its kind, its id and its org.
func (w *Worker) deliverTask(ctx context.Context, t *asynq.Task, outside *calls) error {
	task, err := dispatch.ReadTask(t.Payload())
	if err != nil {
		return archiveError{err.Error()}
	}

	ctx = telemetry.With(ctx, slog.String(telemetry.Kind, t.Type()), slog.String(telemetry.Job, task.ID.String()),
		slog.String(telemetry.Org, task.Org.String()))
	h, known := w.handlers[t.Type()]
	switch {
	case !known:
		// A newer binary may have added the kind, so the job waits for a worker that has it.
		h = queue.Handler{
			Kind: t.Type(), Options: queue.Options{Timeout: statement},
			Call: func(context.Context, *queue.Claimed) error {
				return queue.Snooze(unknownKind)
			},
		}
	case h.Tx != nil:
		return w.deliverTx(ctx, h, task)
	}

	return w.deliverCall(ctx, h, task, outside)
}

// deliverCall runs a call-out kind: T5, the work, then the effects and T8 to T11 in one fenced transaction.
func (w *Worker) deliverCall(asked context.Context, h queue.Handler, task dispatch.Task, outside *calls) error {
	ctx := context.WithoutCancel(asked)
	at := time.Now()
	claiming, cancel := context.WithTimeout(ctx, statement)
	c, err := w.completer.Claim(claiming, task.Org, task.ID)
	cancel()
	if err != nil {
		return w.unclaimedResult(ctx, task, err)
	}

	w.metrics.claims.WithLabelValues(string(c.Lane), claimed).Inc()
	defer outside.limitRun(c)()
	working, one := w.runs.beginRun(asked, c, at)
	span := w.startSpan(ctx, h, c)
	working, ctx = withSpan(working, span), withSpan(ctx, span)
	err = w.callHandler(working, h, c, func(ctx context.Context) error { return h.Call(ctx, c) })
	v, stopped := w.completionOnCancel(asked, working, err)
	if !stopped {
		v = completionOf(c, h.Options, err)
	}
	until := w.runs.finishRun(one)
	outcome, told := w.writeCompletion(ctx, h, c, v, until)
	c.EndRun(outcome != fenced && outcome != letGo && v.Outcome != store.Released)
	w.vacuumer.RunEnded()
	w.reportRun(ctx, c, outcome, time.Since(at), err)
	endSpan(span, outcome)
	if stopped {
		pauseFor(asked, requeued)
	}

	return told
}

// writeCompletion writes the completion of a claimed job. While Postgres is unavailable it retries until the given
// time.
func (w *Worker) writeCompletion(ctx context.Context, h queue.Handler, c *queue.Claimed, v store.Completion,
	until time.Time,
) (outcome string, told error) {
	refused := false
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		writing, cancel := context.WithTimeout(ctx, statement)
		finish := w.completer.Finish
		if v.Outcome == store.Died && w.store.Hooked(c) { // a hook needs its own transaction
			finish = w.store.Finish
		}
		err := finish(writing, c, v)
		cancel()
		switch {
		case err == nil:
			return string(v.Outcome), w.asynqError(c, v)
		case errors.Is(err, store.ErrFenced):
			return fenced, nil
		case !isUnprocessed(err) && v.Outcome != store.Released:
			// The effects cannot be written, so the run has failed.
			w.log.ErrorContext(ctx, "failed to write a run's effects", "error", err)
			c.DropEffects()
			if refused {
				c.SkipHook()
			}
			refused = true
			v = completionOf(c, h.Options, err)
		}
		if time.Now().Add(pause).After(until) {
			return letGo, snoozeError{in: away, why: "postgres is away"}
		}
		time.Sleep(pause)
	}
}

// deliverTx runs a kind with only rows as effects: T6, the effects and T8 to T10 in one transaction. A failure rolls
// back to a savepoint and is written in the same transaction. With a second transaction two deliveries could both fail
// as the same attempt.
func (w *Worker) deliverTx(asked context.Context, h queue.Handler, task dispatch.Task) error {
	ctx := context.WithoutCancel(asked)
	at := time.Now()
	var (
		c       *queue.Claimed
		v       store.Completion
		stopped bool
		workErr error
	)
	working, one := w.runs.beginRun(asked, nil, at)
	span := trace.SpanFromContext(working)
	bounded, cancel := context.WithTimeout(ctx, h.Options.Timeout+2*statement)
	defer cancel()
	err := w.opt.App.Tx(bounded, task.Org, func(tx *postgres.Tx) (err error) {
		if c, err = w.store.Lock(bounded, tx, task.ID); err != nil {
			return err
		}
		w.metrics.claims.WithLabelValues(string(c.Lane), claimed).Inc()
		span = w.startSpan(ctx, h, c)
		working, ctx = withSpan(working, span), withSpan(ctx, span)
		tx.Trace(working)
		workErr = tx.Savepoint(bounded, func() error {
			return w.callHandler(working, h, c, func(ctx context.Context) error { return h.Tx(ctx, tx, c) })
		})
		if v, stopped = w.completionOnCancel(asked, working, workErr); !stopped {
			v = completionOf(c, h.Options, workErr)
		}
		return w.store.Settle(bounded, tx, c, v)
	})
	w.runs.finishRun(one)
	if c == nil || errors.Is(err, store.ErrMissed) {
		return w.unclaimedResult(ctx, task, err)
	}

	outcome := string(v.Outcome)
	told := w.asynqError(c, v)
	switch {
	case err == nil:
	case errors.Is(err, store.ErrFenced):
		outcome = fenced
		told = nil
	case workErr == nil && isUnprocessed(err), stopped, postgres.Lost(err) && !errors.Is(workErr, errTimeLimit):
		// Either the commit's reply was lost, or nothing was written and the row is free.
		outcome = letGo
		told = snoozeError{in: away, why: "postgres is away"}
	default:
		// Either the work broke the session, for example by a timeout in the middle of a statement, or the commit was
		// refused. A separate transaction writes the failure; the attempt in the fence keeps it from counting twice.
		if workErr == nil {
			workErr = err
		}
		c.DropEffects()
		outcome, told = w.writeCompletion(ctx, h, c, completionOf(c, h.Options, workErr),
			time.Now().Add(w.opt.Timing.Guard))
	}

	w.vacuumer.RunEnded()
	w.reportRun(ctx, c, outcome, time.Since(at), workErr)
	endSpan(span, outcome)
	if stopped {
		pauseFor(asked, requeued)
	}

	return told
}

// unclaimedResult returns the result of a delivery without a claim. If the job is dead, asynq archives the task. If the
// job is gone, waiting or held by another run, the task vanishes. If Postgres is unavailable, the task is delivered
// again later.
func (w *Worker) unclaimedResult(ctx context.Context, task dispatch.Task, err error) error {
	if errors.Is(err, store.ErrMissed) {
		w.metrics.missed.Inc()
		reading, cancel := context.WithTimeout(ctx, statement)
		defer cancel()
		why, n, of, dead, err := w.store.Dead(reading, task.Org, task.ID)
		switch {
		case err != nil:
			return snoozeError{in: away, why: "read job: " + err.Error()}
		case dead:
			return archiveError{attemptText(n, of, why)}
		}
		return nil
	}

	lane, _ := asynq.GetQueueName(ctx)
	w.metrics.claims.WithLabelValues(lane, claimFailed).Inc()
	if n := w.unclaimedLog.count(time.Now()); n > 0 {
		w.log.WarnContext(ctx, "jobs not claimed", "jobs", n, "error", err)
	}

	return snoozeError{in: away, why: "claim: " + cleanText(err.Error())}
}

// isUnprocessed reports whether Postgres did not process the statement at all, whatever the error says.
func isUnprocessed(err error) bool {
	_, unconnected := errors.AsType[*pgconn.ConnectError](err)
	return unconnected || postgres.Away(err) && !postgres.TimedOut(err)
}
