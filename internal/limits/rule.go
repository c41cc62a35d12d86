package limits

import (
	"fmt"
	"strconv"
	"time"
)

// Rule is what one subject may do. Burst is the bucket's size and the most that any 30 s admit; PerMinute
// refills the bucket.
type Rule struct {
	PerMinute int64
	Burst     int64
}

// PerMinute is the rule of n requests a minute, with bursts of twice as many.
func PerMinute(n int64) Rule { return Rule{PerMinute: n, Burst: 2 * n} }

// Default is an org's rule: 100 per minute, up to 200 in 30 s.
var Default = PerMinute(100)

const (
	window = 30 * time.Second
	minute = time.Minute
)

// defaultPolicy is made once, since nearly every answer bears it.
var defaultPolicy = fmt.Sprintf(policy, Default.Burst, Default.PerMinute)

const policy = `"burst";q=%d;w=30, "default";q=%d;w=60`

func (r Rule) policy() string {
	if r == Default {
		return defaultPolicy
	}
	return fmt.Sprintf(policy, r.Burst, r.PerMinute)
}

// step is what one request takes from the bucket, in microseconds.
func (r Rule) step() int64 { return minute.Microseconds() / r.PerMinute }

// Decision is the answer to one request.
type Decision struct {
	Rule    Rule
	Allowed bool
	// Remaining is how many more requests would be admitted at this moment.
	Remaining int64
	// Grows is the time until Remaining grows: after a refusal, until a request is admitted, if no other takes
	// its place.
	Grows time.Duration
	// ByWindow tells which bound is the tighter one: the window, else the bucket.
	ByWindow bool
	// Degraded: the process decided alone.
	Degraded bool
}

// seconds is Grows in whole seconds, rounded up, at least 1.
func (d Decision) seconds() int64 { return max(1, int64((d.Grows+time.Second-1)/time.Second)) }

// RetryAfter is how long a refused caller should wait.
func (d Decision) RetryAfter() time.Duration { return time.Duration(d.seconds()) * time.Second }

// Headers calls set with the headers of both families: draft-ietf-httpapi-ratelimit-headers-11, structured
// fields (RFC 9651), and the older X-RateLimit trio, whose reset is in epoch seconds.
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
