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
//
// What a process admits alone is charged to Redis with the next call of the script for that subject, or by the probe
// before the breaker closes, whichever comes first. A charge or a request whose answer was lost may be counted twice,
// but never not at all. A process also applies the rule to everything that it admitted itself, by whomever it was
// decided. A Redis with all its memory never admits what that refuses; one that comes back empty, with an older state
// or with another clock does. So
//
//   - one process never admits more than the rule, whatever befalls Redis;
//   - n processes admit at most n times Burst in 30 s while Redis is away or has lost its memory, and exactly the rule
//     from the moment at which Redis is told of what they admitted alone, or 30 s after it lost its memory;
//   - what was admitted beyond the bucket in an outage is not made up for: the bucket is empty at worst.
package limits
