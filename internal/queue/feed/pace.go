package feed

import "time"

// standstill is the longest standstill of a feeder that a rate limiter makes up for.
const standstill = 500 * time.Millisecond

// pace is the rate limiter of a concurrency key: one slot every 1/rate seconds, from next on. It does not accumulate
// slots from times when no job waited, or from longer ago than standstill.
type pace struct {
	rate int
	next float64 // epoch seconds, like all times here
}

func newPace(rate int, next, oldest, now float64) *pace {
	return &pace{rate, max(next, oldest, now-standstill.Seconds())}
}

// room returns how many slots the key may get by now.
func (p *pace) room(now float64) int {
	if p.next > now {
		return 0
	}
	return 1 + int((now-p.next)*float64(p.rate))
}

func (p *pace) advanceBy(n int) { p.next += float64(n) / float64(p.rate) }
