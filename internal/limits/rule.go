package limits

import (
	"fmt"
	"strconv"
	"time"
)

// Rule is the limit of one subject. Burst is the bucket's size and the maximum in any 30 s. PerMinute is the rate at
// which the bucket is refilled.
type Rule struct {
	PerMinute int64
	Burst     int64
}

// PerMinute returns the rule of n requests a minute, with bursts of twice as many.
func PerMinute(n int64) Rule { return Rule{PerMinute: n, Burst: 2 * n} }

// Default is an org's rule: 100 per minute, up to 200 in 30 s.
var Default = PerMinute(100)

const (
	window = 30 * time.Second
	minute = time.Minute
)

// defaultPolicy is formatted once, since nearly every response contains it.
var defaultPolicy = fmt.Sprintf(policy, Default.Burst, Default.PerMinute)

const policy = `"burst";q=%d;w=30, "default";q=%d;w=60`

func (r Rule) policy() string {
	if r == Default {
		return defaultPolicy
	}
	return fmt.Sprintf(policy, r.Burst, r.PerMinute)
}

// step returns what one request takes from the bucket, in microseconds.
func (r Rule) step() int64 { return minute.Microseconds() / r.PerMinute }

// Decision is the decision on one request.
type Decision struct {
	Rule    Rule
	Allowed bool
	// Remaining is the number of further requests that would be admitted now.
	Remaining int64
	// Grows is the time until Remaining grows. After a refusal it is the time until a request is admitted, if no other
	// request takes its place.
	Grows time.Duration
	// ByWindow reports whether the window is the tighter bound, not the bucket.
	ByWindow bool
	// Degraded reports that the process decided alone.
	Degraded bool
}

// seconds returns Grows in whole seconds, rounded up, at least 1.
func (d Decision) seconds() int64 { return max(1, int64((d.Grows+time.Second-1)/time.Second)) }

// RetryAfter returns how long a refused caller should wait.
func (d Decision) RetryAfter() time.Duration { return time.Duration(d.seconds()) * time.Second }

// Headers calls set with the rate limit headers of both families: draft-ietf-httpapi-ratelimit-headers-11, structured
// fields (RFC 9651), and the older X-RateLimit trio with its reset in epoch seconds.
func (d Decision) Headers(now time.Time, set func(name, value string)) {
	set("RateLimit-Policy", d.Rule.policy())
	name := `"default"`
	if d.ByWindow {
		name = `"burst"`
	}
	remaining, wait := strconv.FormatInt(d.Remaining, 10), d.seconds()
	set("RateLimit", name+";r="+remaining+";t="+strconv.FormatInt(wait, 10))
	set("X-RateLimit-Limit", strconv.FormatInt(d.Rule.Burst, 10))
	set("X-RateLimit-Remaining", remaining)
	set("X-RateLimit-Reset", strconv.FormatInt(now.Add(d.Grows+time.Second-1).Unix(), 10))
}
