package queue

import "time"

// callAgain is the delay of a run that may not call its server yet.
const callAgain = 5 * time.Second

// LimitCalls sets the function by which BeginCall asks whether the run may call a server. The worker sets it, and
// counts the call until the run ends.
func (c *Claimed) LimitCalls(begin func(host string) bool) { c.beginCall = begin }

// BeginCall must be called before a run calls a server that a customer names, with the server's name and port. The
// error snoozes the job: too many runs of the org, or calls of the server that take long, have slots of the worker that
// others need. No attempt is spent.
func (c *Claimed) BeginCall(host string) error {
	if c.beginCall == nil || c.beginCall(host) {
		return nil
	}
	return Snooze(Jitter(callAgain, 0.2))
}
