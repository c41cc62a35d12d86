// Package limits is a rate limiter: exact, shared by all processes, in one round trip to Redis.
//
// # The rule
//
// Let A be the set of moments at which requests of one subject were admitted. A request at t is admitted iff
//
//	(W) fewer than Burst of A lie in (t - 30 s, t], and
//	(B) a bucket of Burst, refilled at PerMinute, has room: for every s <= t, A has at most
//	    Burst + (t-s)/interval - 1 members in [s, t], where interval is 60 s / PerMinute.
//
// So no half-open window of 30 s holds more than Burst requests, a client that stays below PerMinute is never refused,
// and every refused request would have violated W or B. Refused requests change nothing. All values are integers in
// microseconds.
//
// # Why both
//
// A bucket alone admits the 201st request of a burst if the first 200 took 0.6 s, so the limit would depend on how fast
// a client sends. A window alone never enforces the rate per minute.
//
// # When Redis is unavailable
//
// Three failures open a circuit breaker, and the process applies the same rule alone: it fails neither open nor closed.
// Each process then admits up to Burst requests. A background probe closes the breaker, so that no request waits.
//
// What a process admits alone is charged to Redis with the next call of the script for that subject, or by the probe
// before the breaker closes, whichever comes first. A charge or a request with a lost reply may be counted twice, but
// never not at all. A process also applies the rule to everything that it admitted, whether Redis or the process
// decided. A Redis with all its data never admits what that check refuses; one that restarts empty, with an older state
// or with another clock does. So
//
//   - one process never admits more than the rule, whatever happens to Redis;
//   - n processes admit at most n times Burst in 30 s while Redis is unavailable or has lost its data, and exactly the
//     rule from the moment at which Redis has counted what they admitted alone, or 30 s after it lost its data;
//   - what was admitted beyond the bucket in an outage is not compensated: the bucket is empty at worst.
package limits
