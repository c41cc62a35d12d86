package queue

import "time"

// LimitCalls sets the function by which BeginCall asks whether the run may call a server. It returns 0, or the delay
// after which the run may ask again; it may wait a moment before. The worker sets it, and counts the call until the run
// ends.
func (c *Claimed) LimitCalls(begin func(host string) time.Duration) { c.beginCall = begin }

// BeginCall must be called before a run calls a server that a customer names, with the server's name and port. The
// error snoozes the job: too many runs of the org, or calls of the server that take long, have slots of the worker that
// others need. No attempt is spent.
func (c *Claimed) BeginCall(host string) error {
	if c.beginCall == nil {
		return nil
	}
	if d := c.beginCall(host); d > 0 {
		return Snooze(Jitter(d, 0.2))
	}
	return nil
}
