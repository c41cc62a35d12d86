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
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// afterPostgres delays asynq's retries. asynq's clock has a resolution of whole seconds. With the delay Postgres, which
// starts retries, is always first, and asynq never delivers early.
const afterPostgres = 2 * time.Second

// away is the retry delay of a delivery that could not reach Postgres.
const away = 5 * time.Second

// longestError is how many bytes of an error a job keeps.
const longestError = 2000

// snoozeError postpones a delivery. It is not a failure, neither for the job nor in asynq's count.
type snoozeError struct {
	in  time.Duration
	why string
}

func (e snoozeError) Error() string { return e.why }

// retryError is a failed attempt with attempts left.
type retryError struct {
	in   time.Duration
	text string
}

func (e retryError) Error() string { return e.text }

// archiveError is a job's last error. asynq archives the task.
type archiveError struct{ text string }

func (a archiveError) Error() string { return a.text }

// Is makes asynq treat the error as SkipRetry without adding SkipRetry's text to the dashboard.
func (archiveError) Is(target error) bool { return target == asynq.SkipRetry }

// retryDelay is asynq's RetryDelayFunc. It returns the delay of the error.
func retryDelay(_ int, err error, _ *asynq.Task) time.Duration {
	if l, ok := errors.AsType[snoozeError](err); ok {
		return l.in + afterPostgres
	}
	if a, ok := errors.AsType[retryError](err); ok {
		return a.in + afterPostgres
	}
	return away
}

// isFailure reports whether asynq should count err as a failure.
func isFailure(err error) bool {
	_, put := errors.AsType[snoozeError](err)
	return !put && !errors.Is(err, asynq.ErrLeaseExpired)
}

// completionOf returns the completion of a run of c that returned err.
func completionOf(c *queue.Claimed, o queue.Options, err error) store.Completion {
	if err == nil {
		return store.Completion{Outcome: store.Done}
	}
	if d, ok := queue.SnoozeOf(err); ok {
		return store.Completion{Outcome: store.Snoozed, In: max(d, 0)}
	}
	if postgres.Lost(err) && !queue.IsDrop(err) { // an outage is not the job's failure
		return store.Completion{Outcome: store.Snoozed, In: away}
	}

	v := store.Completion{Outcome: store.Failed, Error: cleanText(err.Error())}
	if queue.IsDrop(err) || c.Last() {
		v.Outcome = store.Died
		return v
	}
	if d, ok := queue.RetryOf(err); ok {
		v.In = max(d, 0)
	} else {
		v.In = o.Backoff(c.Attempt)
	}

	return v
}

// asynqError returns the error for asynq after a completion was written in Postgres.
func (w *Worker) asynqError(c *queue.Claimed, v store.Completion) error {
	if !w.mayListRetry(c.Lane) && v.Outcome != store.Died {
		return nil
	}
	switch v.Outcome {
	case store.Failed:
		return retryError{in: v.In, text: attemptText(c.Attempt, c.MaxAttempts, v.Error)}
	case store.Died:
		return archiveError{attemptText(c.Attempt, c.MaxAttempts, v.Error)}
	case store.Snoozed:
		return snoozeError{in: v.In, why: "snoozed for " + v.In.String()}
	case store.Done, store.Released:
	}
	return nil
}

// attemptText prefixes text with the attempt. asynq's own counter restarts when a task is rebuilt.
func attemptText(n, of int, text string) string {
	return fmt.Sprintf("attempt %d of %d: %s", n, of, text)
}

// cleanText makes s safe for a row and a page: no NUL, valid UTF-8, limited length.
func cleanText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) > longestError {
		s = strings.ToValidUTF8(s[:longestError], "") + "…"
	}
	return s
}

// Causes of a run's cancellation other than its own timeout.
var (
	errLeaseLost = queue.ErrLeaseLost
	errShutdown  = errors.New("the worker is stopping")
)

// completionOnCancel returns the completion of a run that was cancelled from outside, and true. It returns false for a
// run that ended by itself. asked is asynq's context, run the run's own.
func (w *Worker) completionOnCancel(asked, run context.Context, err error) (store.Completion, bool) {
	if _, snoozed := queue.SnoozeOf(err); err == nil || snoozed || queue.IsDrop(err) {
		return store.Completion{}, false
	}
	cause := context.Cause(run)
	switch {
	case errors.Is(cause, errLeaseLost), errors.Is(cause, errShutdown):
		return store.Completion{Outcome: store.Released}, true
	case asked.Err() != nil && w.health.down.Load(): // asynq could not extend its lease
		return store.Completion{Outcome: store.Released}, true
	case asked.Err() != nil: // "cancel" in the dashboard
		return store.Completion{Outcome: store.Released, In: time.Minute}, true
	}
	return store.Completion{}, false
}
