package billing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// pace limits the request rate: one request per interval, without bursts. It is safe for concurrent use.
type pace struct {
	every time.Duration
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu   sync.Mutex
	next time.Time
}

// Budget is the maximum number of requests per second that a sync makes to Stripe.
const Budget = 20

func newPace(now func() time.Time, sleep func(context.Context, time.Duration) error) *pace {
	if sleep == nil {
		sleep = pause
	}
	return &pace{every: time.Second / Budget, now: now, sleep: sleep}
}

// turn waits until the next request may be made.
func (p *pace) turn(ctx context.Context) error {
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

// hold delays all further requests by d.
func (p *pace) hold(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(d); p.next.Before(until) {
		p.next = until
	}
}

// tooMany is the number of 429 responses after which a request fails.
const tooMany = 8

// do runs one request within the rate limit. After a 429 it retries with the delay that Stripe specifies, or with
// backoff.
func (p *pace) do(ctx context.Context, request func() error) error {
	for n := range tooMany {
		if err := p.turn(ctx); err != nil {
			return err
		}
		err := request()
		if err == nil || errors.Is(err, errMoved) || sortOf(err) != busy {
			return err
		}
		wait := retryAfter(err)
		if wait == 0 {
			wait = time.Second << min(n, 5)
		}
		p.hold(wait)
	}
	return fmt.Errorf("rejected %d times with too many requests", tooMany)
}

// pause waits for d or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
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
