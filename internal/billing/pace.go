package billing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// pace spends a budget of requests, evenly: one each interval, none saved up. It is safe for concurrent use.
type pace struct {
	every time.Duration
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu   sync.Mutex
	next time.Time
}

// Budget is how many requests a second a sync may make of Stripe.
const Budget = 20

func newPace(now func() time.Time, sleep func(context.Context, time.Duration) error) *pace {
	if sleep == nil {
		sleep = pause
	}
	return &pace{every: time.Second / Budget, now: now, sleep: sleep}
}

// turn waits for the next request's turn.
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

// hold puts everybody's next turn off.
func (p *pace) hold(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(d); p.next.Before(until) {
		p.next = until
	}
}

// tooMany is how often one request is put off by a 429 before it counts as failed.
const tooMany = 8

// do runs one request in its turn, and again after a 429, as long after as Stripe says, or ever longer.
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
	return fmt.Errorf("refused %d times for too many requests", tooMany)
}

// pause waits for d, or for the end of ctx.
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
