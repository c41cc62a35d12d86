package queue

import "time"

// Crowds share trips. At 3 ms a busy worker of 50 slots claims 15 jobs with one statement, and with no wait 3: a claim
// and a verdict then cost Postgres 45 us instead of 120. Longer waits gain no more.
const (
	CrowdGap    = 3 * time.Millisecond // between two trips of one sort
	CrowdEnough = 24                   // that need not wait
)

// Crowd gathers what shares a trip to a server. A trip costs the server and both ends about the same whatever it
// carries; so one that follows another waits until Gap has passed since that one left, or Enough are there. What comes
// after a pause goes at once, alone or not. The zero value gathers nothing; one goroutine uses it.
type Crowd[T any] struct {
	Gap    time.Duration
	Enough int // that need not wait
	Most   int // that go together
	left   time.Time
}

// Gather answers first and what goes with it, in the room of load, when they may go.
func (c *Crowd[T]) Gather(load []T, first T, others <-chan T) []T {
	load = append(load[:0], first)
	if wait := time.Until(c.left.Add(c.Gap)); wait > 0 {
		over := time.NewTimer(wait)
		defer over.Stop()
		for waiting := true; waiting && len(load) < c.Enough; {
			select {
			case one := <-others:
				load = append(load, one)
			case <-over.C:
				waiting = false
			}
		}
	}
	for len(load) < c.Most && len(others) > 0 {
		load = append(load, <-others)
	}
	c.left = time.Now()
	return load
}
