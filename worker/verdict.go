package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// asynq's clock goes by whole seconds. What it holds under Retry comes this much later than the job is due, so
// that Postgres, which starts retries, is always first, and never early.
const afterPostgres = 2 * time.Second

// away is how long a delivery waits that could not ask Postgres.
const away = 5 * time.Second

// longestError of what a job keeps, in bytes.
const longestError = 2000

// later is a run that was put off: not a failure, neither for the job nor in asynq's count.
type later struct {
	in  time.Duration
	why string
}

func (l later) Error() string { return l.why }

// again is a failed attempt that has more attempts left.
type again struct {
	in   time.Duration
	text string
}

func (a again) Error() string { return a.text }

// archive is a job's last error. asynq lists it under Archived.
type archive struct{ text string }

func (a archive) Error() string { return a.text }

// Is makes asynq see its SkipRetry without that text in the dashboard.
func (archive) Is(target error) bool { return target == asynq.SkipRetry }

// retryDelay is asynq's RetryDelayFunc: the delay that the error carries.
func retryDelay(_ int, err error, _ *asynq.Task) time.Duration {
	if l, ok := errors.AsType[later](err); ok {
		return l.in + afterPostgres
	}
	if a, ok := errors.AsType[again](err); ok {
		return a.in + afterPostgres
	}
	return away
}

// isFailure tells asynq what to count.
func isFailure(err error) bool {
	_, put := errors.AsType[later](err)
	return !put && !errors.Is(err, asynq.ErrLeaseExpired)
}

// judge is the verdict on a run of c that came to err.
func judge(c *queue.Claimed, o queue.Options, err error) queue.Verdict {
	if err == nil {
		return queue.Verdict{Outcome: queue.Done}
	}
	if d, ok := queue.SnoozeOf(err); ok {
		return queue.Verdict{Outcome: queue.Snoozed, In: max(d, 0)}
	}
	if postgres.Lost(err) && !queue.IsDrop(err) { // an outage is nobody's failure
		return queue.Verdict{Outcome: queue.Snoozed, In: away}
	}
	v := queue.Verdict{Outcome: queue.Failed, Error: clean(err.Error())}
	if queue.IsDrop(err) || c.Last() {
		v.Outcome = queue.Died
		return v
	}
	if d, ok := queue.RetryOf(err); ok {
		v.In = max(d, 0)
	} else {
		v.In = o.Backoff(c.Attempt)
	}
	return v
}

// answer is what asynq hears of a verdict that stands in Postgres.
func (w *Worker) answer(c *queue.Claimed, v queue.Verdict) error {
	if !w.listed(c.Lane) && v.Outcome != queue.Died {
		return nil
	}
	switch v.Outcome {
	case queue.Failed:
		return again{in: v.In, text: attemptText(c.Attempt, c.MaxAttempts, v.Error)}
	case queue.Died:
		return archive{attemptText(c.Attempt, c.MaxAttempts, v.Error)}
	case queue.Snoozed:
		return later{in: v.In, why: "snoozed for " + v.In.String()}
	case queue.Done, queue.Released:
	}
	return nil
}

// attemptText says which attempt it was: asynq's own counter starts again when a task was rebuilt.
func attemptText(n, of int, text string) string {
	return fmt.Sprintf("attempt %d of %d: %s", n, of, text)
}

// clean makes s fit for a row and a page: no NUL, valid UTF-8, not endless.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) > longestError {
		s = strings.ToValidUTF8(s[:longestError], "") + "…"
	}
	return s
}

// Why a run's context ended, where it was not its own time limit.
var (
	errLeaseLost = errors.New("the run lost its job")
	errShutdown  = errors.New("the worker stops")
)

// interrupted is the verdict on a run that ended because somebody ended it, and not by its own fault; false for
// any other. asked is asynq's context, run the run's own.
func (w *Worker) interrupted(asked, run context.Context, err error) (queue.Verdict, bool) {
	if _, snoozed := queue.SnoozeOf(err); err == nil || snoozed || queue.IsDrop(err) {
		return queue.Verdict{}, false
	}
	cause := context.Cause(run)
	switch {
	case errors.Is(cause, errLeaseLost), errors.Is(cause, errShutdown):
		return queue.Verdict{Outcome: queue.Released}, true
	case asked.Err() != nil && w.link.isDown(): // asynq could not keep its lease
		return queue.Verdict{Outcome: queue.Released}, true
	case asked.Err() != nil: // "cancel" in the dashboard
		return queue.Verdict{Outcome: queue.Released, In: time.Minute}, true
	}
	return queue.Verdict{}, false
}
