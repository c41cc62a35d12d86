package worker

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

const (
	statement   = 5 * time.Second // for one claim or one verdict
	unknownKind = time.Minute     // until a job is looked at again whose kind this binary lacks
)

// Outcomes beyond the ledger's.
const (
	fenced = "fenced" // the verdict came too late
	letGo  = "let_go" // Postgres was away; the lease lapses
)

// Results of a claim.
const (
	claimed     = "claimed"
	claimFailed = "failed"
)

func (w *Worker) deliver(ctx context.Context, t *asynq.Task) error {
	task, err := queue.ReadTask(t.Payload())
	if err != nil {
		return archive{err.Error()}
	}
	h, known := w.handlers[t.Type()]
	switch {
	case !known:
		// A newer binary may have added it, so it waits for a worker that knows the kind.
		h = queue.Handler{Kind: t.Type(), Options: queue.Options{Timeout: statement}, Call: func(context.Context, *queue.Claimed) error {
			return queue.Snooze(unknownKind)
		}}
	case h.Tx != nil:
		return w.deliverTx(ctx, h, task)
	}
	return w.deliverCall(ctx, h, task)
}

// deliverCall runs a kind that calls out: T5, the work, then effects and T8 to T11 in one fenced transaction.
func (w *Worker) deliverCall(asked context.Context, h queue.Handler, task queue.Task) error {
	ctx := context.WithoutCancel(asked)
	at := time.Now()
	claiming, cancel := context.WithTimeout(ctx, statement)
	c, err := w.clerk.Claim(claiming, task.Org, task.ID)
	cancel()
	if err != nil {
		return w.unclaimed(ctx, task, err)
	}
	w.metrics.claims.WithLabelValues(string(c.Lane), claimed).Inc()
	working, one := w.runs.begin(asked, c, at)
	err = w.work(working, h, c, func(ctx context.Context) error { return h.Call(ctx, c) })
	v, stopped := w.interrupted(asked, working, err)
	if !stopped {
		v = judge(c, h.Options, err)
	}
	until := w.runs.finish(one)
	outcome, told := w.settle(ctx, h, c, v, until)
	w.ended(c)
	w.report(ctx, c, outcome, time.Since(at), err)
	if stopped {
		w.awaitRequeue(asked)
	}
	return told
}

// settle writes the verdict of a claimed job, again and again while Postgres is away, until the time given.
func (w *Worker) settle(ctx context.Context, h queue.Handler, c *queue.Claimed, v queue.Verdict, until time.Time) (outcome string, told error) {
	refused := false
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		writing, cancel := context.WithTimeout(ctx, statement)
		finish := w.clerk.Finish
		if v.Outcome == queue.Died && w.ledger.Hooked(c) { // what the hook writes is the verdict's own transaction
			finish = w.ledger.Finish
		}
		err := finish(writing, c, v)
		cancel()
		switch {
		case err == nil:
			return string(v.Outcome), w.answer(c, v)
		case errors.Is(err, queue.ErrFenced):
			return fenced, nil
		case !absent(err) && v.Outcome != queue.Released:
			// The effects themselves cannot be written: that is the run's failure.
			w.log.ErrorContext(ctx, "a run's effects cannot be written", "kind", c.Kind, "job_id", c.ID.String(), "error", err)
			if c.DropEffects(); refused {
				c.SkipHook()
			}
			refused, v = true, judge(c, h.Options, err)
		}
		if time.Now().Add(pause).After(until) {
			return letGo, later{in: away, why: "postgres is away"}
		}
		time.Sleep(pause)
	}
}

// deliverTx runs a kind whose effects are only rows: T6, effects and T8 to T10 in one transaction. A failure is
// written behind a savepoint: were it written by a second transaction, two deliveries could both fail as the
// same attempt.
func (w *Worker) deliverTx(asked context.Context, h queue.Handler, task queue.Task) error {
	ctx := context.WithoutCancel(asked)
	at := time.Now()
	var (
		c       *queue.Claimed
		v       queue.Verdict
		stopped bool
		workErr error
	)
	working, one := w.runs.begin(asked, nil, at)
	bounded, cancel := context.WithTimeout(ctx, h.Options.Timeout+2*statement)
	defer cancel()
	err := w.opt.App.Tx(bounded, task.Org, func(tx *postgres.Tx) (err error) {
		if c, err = w.ledger.Lock(bounded, tx, task.ID); err != nil {
			return err
		}
		w.metrics.claims.WithLabelValues(string(c.Lane), claimed).Inc()
		workErr = tx.Savepoint(bounded, func() error {
			return w.work(working, h, c, func(ctx context.Context) error { return h.Tx(ctx, tx, c) })
		})
		if v, stopped = w.interrupted(asked, working, workErr); !stopped {
			v = judge(c, h.Options, workErr)
		}
		return w.ledger.Settle(bounded, tx, c, v)
	})
	w.runs.finish(one)
	if c == nil || errors.Is(err, queue.ErrMissed) {
		return w.unclaimed(ctx, task, err)
	}
	outcome, told := string(v.Outcome), w.answer(c, v)
	switch {
	case err == nil:
	case errors.Is(err, queue.ErrFenced):
		outcome, told = fenced, nil
	case workErr == nil && absent(err), stopped, postgres.Lost(err) && !errors.Is(workErr, errTimeLimit):
		// Either the commit's answer was lost or nothing was written and the row is free.
		outcome, told = letGo, later{in: away, why: "postgres is away"}
	default:
		// The work took the session with it, as a time limit in the middle of a statement does, or the commit
		// was refused. The failure is written apart; the attempt in the fence keeps it from counting twice.
		if workErr == nil {
			workErr = err
		}
		c.DropEffects()
		outcome, told = w.settle(ctx, h, c, judge(c, h.Options, workErr), time.Now().Add(w.opt.Timing.Guard))
	}
	w.ended(c)
	w.report(ctx, c, outcome, time.Since(at), workErr)
	if stopped {
		w.awaitRequeue(asked)
	}
	return told
}

// unclaimed answers a delivery that may not run: the job is dead, and asynq lists it; or it is gone, waits or is
// run by another, and the delivery vanishes; or Postgres is away, and it comes back.
func (w *Worker) unclaimed(ctx context.Context, task queue.Task, err error) error {
	if errors.Is(err, queue.ErrMissed) {
		w.metrics.missed.Inc()
		reading, cancel := context.WithTimeout(ctx, statement)
		defer cancel()
		why, n, of, dead, err := w.ledger.Dead(reading, task.Org, task.ID)
		switch {
		case err != nil:
			return later{in: away, why: "read job: " + err.Error()}
		case dead:
			return archive{attemptText(n, of, why)}
		}
		return nil
	}
	lane, _ := asynq.GetQueueName(ctx)
	w.metrics.claims.WithLabelValues(lane, claimFailed).Inc()
	if n := w.unclaimedLog.count(time.Now()); n > 0 {
		w.log.WarnContext(ctx, "jobs not claimed", "jobs", n, "job_id", task.ID.String(), "error", err)
	}
	return later{in: away, why: "claim: " + clean(err.Error())}
}

// absent tells whether Postgres did not get to judge what was sent, whatever it gave as its reason.
func absent(err error) bool {
	_, unconnected := errors.AsType[*pgconn.ConnectError](err)
	return unconnected || postgres.Away(err)
}

// awaitRequeue keeps a delivery until asynq gave it back by itself, which a return would prevent. Elsewhere than
// at a shutdown asynq has given up on it already.
func (w *Worker) awaitRequeue(asked context.Context) {
	select {
	case <-asked.Done():
	case <-time.After(2 * handOver):
	}
}
