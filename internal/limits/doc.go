// Package limits decides whether a request may pass: exactly, for all processes together, in one round trip.
//
// # The rule
//
// Let A be the set of moments at which requests of one subject were admitted. A request at t is admitted iff
//
//	(W) fewer than Burst of A lie in (t - 30 s, t], and
//	(B) a bucket of Burst, refilled at PerMinute, has room: for every s <= t, A has at most
//	    Burst + (t-s)/interval - 1 members in [s, t], where interval is 60 s / PerMinute.
//
// So no half-open window of 30 s ever holds more than Burst, a client that stays below PerMinute is never
// refused, and every refused request would have broken W or B. Refused requests change nothing. All of it is
// integers in microseconds.
//
// # Why both
//
// A bucket alone lets the 201st request of a burst through as soon as the first 200 took 0.6 s: what a client
// may do would depend on how fast it asks. A window alone never enforces the rate per minute.
//
// # When Redis is away
//
// Three failures open a breaker, and the same rule runs in the process: not open, not closed. Each process
// then admits up to Burst of its own. A probe in the background closes the breaker, so that no request waits.
package limits
