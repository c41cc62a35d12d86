package worker

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/waits"
)

const (
	// setBackBy is by how much Postgres's clock must be set back to be noticed. Less makes waits hardly longer, and
	// time synchronization may cause it.
	setBackBy = 2 * time.Second
	// openTx is how long a transaction may stamp by the time at which it began.
	openTx = time.Minute
	// retryWaits is the delay after waits could not be ended.
	retryWaits = 5 * time.Second
)

// clockWatch notices that Postgres's clock was set back. Only the relay may use it.
type clockWatch struct {
	reading time.Time // of Postgres's clock
	at      time.Time // after that reading, by our clock, whose differences are monotonic
}

// detectSetBack takes a reading of Postgres's clock that began at a time. If the clock was set back since the last
// reading, it returns for how long that may have been so; otherwise 0.
func (c *clockWatch) detectSetBack(reading, began time.Time) (setBack time.Duration) {
	now := time.Now()
	if !c.at.IsZero() && reading.Before(c.reading.Add(began.Sub(c.at)-setBackBy)) {
		setBack = now.Sub(c.at) + setBackBy
	}
	c.reading = reading
	c.at = now
	return setBack
}

// noticeClock tells endWaits that Postgres's clock was set back, if it was. It does not wait.
func (w *Worker) noticeClock(reading, began time.Time) {
	setBack := w.clock.detectSetBack(reading, began)
	if setBack == 0 {
		return
	}
	select {
	case w.setBack <- setBack:
	default: // an earlier report is not handled yet
	}
}

// endWaits ends waits that last too long because Postgres's clock was set back, until ctx ends: at the start, every few
// minutes, when the relay notices it, and once more a minute later. The second look also finds what a run has computed
// from a time that was stamped before, and committed after the first.
func (w *Worker) endWaits(ctx context.Context) {
	var (
		since time.Time // the clock may have been set back since then; zero: it was not
		again bool      // the second look is to come
	)
	for {
		var setBack time.Duration
		if !since.IsZero() {
			setBack = time.Since(since)
		}
		next := queue.Jitter(w.opt.Timing.Waits, 0.2)
		switch err := w.endLate(ctx, setBack); {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.log.WarnContext(ctx, "failed to end waits that last too long", "error", err)
			next = min(next, retryWaits)
		case again:
			again = false
			next = openTx
		default:
			since = time.Time{}
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case reported := <-w.setBack:
			if at := time.Now().Add(-reported); since.IsZero() || at.Before(since) {
				since = at
			}
			again = true
		case <-timer.C:
		}
		timer.Stop()
	}
}

// endLate is one look. setBack is how long ago the clock was set back at most; 0: it is not known that it was.
func (w *Worker) endLate(ctx context.Context, setBack time.Duration) error {
	ended, err := waits.EndLate(ctx, w.opt.System, setBack > 0)
	delays, failed := w.store.EndDelays(ctx, setBack)
	if len(ended)+len(delays) > 0 || setBack > 0 {
		w.log.WarnContext(ctx, "waits have ended that lasted too long because the clock of postgres was set back",
			"rows", ended, "delays", delays)
	}
	return errors.Join(err, failed)
}
