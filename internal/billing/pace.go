package billing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Pacer limits the request rate: one request per interval, without bursts. It is safe for concurrent use.
type Pacer struct {
	every time.Duration
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu   sync.Mutex
	next time.Time
}

// Budget is the maximum number of requests per second that a sync makes to Stripe.
const Budget = 20

// NewPacer returns a Pacer with the rate Budget. A nil sleep means Pause.
func NewPacer(now func() time.Time, sleep func(context.Context, time.Duration) error) *Pacer {
	if sleep == nil {
		sleep = Pause
	}
	return &Pacer{every: time.Second / Budget, now: now, sleep: sleep}
}

// awaitTurn waits until the next request may be made.
func (p *Pacer) awaitTurn(ctx context.Context) error {
	p.mu.Lock()
	now := p.now()
	at := p.next
	if at.Before(now) {
		at = now
	}

	p.next = at.Add(p.every)
	p.mu.Unlock()
	return p.sleep(ctx, at.Sub(now))
}

// delayNext delays all further requests by d.
func (p *Pacer) delayNext(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(d); p.next.Before(until) {
		p.next = until
	}
}

// tooMany is the number of 429 responses after which a request fails.
const tooMany = 8

// Do runs one request within the rate limit. After a 429 it retries with the delay that Stripe specifies, or with
// backoff.
func (p *Pacer) Do(ctx context.Context, request func() error) error {
	for n := range tooMany {
		if err := p.awaitTurn(ctx); err != nil {
			return err
		}

		err := request()
		if err == nil || errors.Is(err, ErrMoved) || Classify(err) != TooManyRequests {
			return err
		}

		wait := RetryAfter(err)
		if wait == 0 {
			wait = time.Second << min(n, 5)
		}

		p.delayNext(wait)
	}

	return fmt.Errorf("rejected %d times with too many requests", tooMany)
}

// Pause waits for d or until ctx is done.
func Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}

	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Report is the result of a sync.
type Report struct {
	Same, Repaired, Failed int
	Requests               int
}
