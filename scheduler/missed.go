package scheduler

import "time"

// Missed is an entry's policy for ticks that came while no scheduler, or no database, was there.
type Missed int

// The policies. None makes up for a tick that is older than a day.
const (
	One  Missed = iota // of those missed the latest is made up for
	Skip               // a tick happens within a minute of its time, or never
	All                // each is made up for, the newest thousand at most
)

// String is the policy as operators read it.
func (m Missed) String() string {
	switch m {
	case One:
		return "one"
	case Skip:
		return "skip"
	case All:
		return "all"
	}
	return "unknown"
}

const (
	// horizon is how late a tick may be made up for. Rows of ticks are kept for seven days, so that a process
	// that slept through them cannot repeat a tick whose row has been swept.
	horizon = 24 * time.Hour
	// onTime is how late a tick may be that is never made up for: a restart, a short outage.
	onTime = time.Minute
	// most is how many ticks of an entry are made up for.
	most = 1000
)

// due answers what is to be offered at now, oldest first, and how many ticks are left out for good. last is the
// latest tick that has happened or was left out; zero where the entry is new, which has missed nothing.
func (e Entry) due(last, now time.Time) (ticks []time.Time, left int) {
	latest := e.tick(now)
	if !latest.After(last) {
		return nil, 0
	}
	missed := 1
	if !last.IsZero() {
		// A last tick of another interval, before the entry was changed, lies between two of this one.
		missed = int((latest.Sub(last) + e.Every - 1) / e.Every)
	}
	n := 1
	switch late := now.Sub(latest); {
	case e.Missed == Skip && late > onTime, late > horizon:
		n = 0
	case e.Missed == All:
		n = min(missed, most, 1+int((horizon-late)/e.Every))
	}
	for i := range n {
		ticks = append(ticks, latest.Add(-time.Duration(n-1-i)*e.Every))
	}
	if last.IsZero() {
		missed = n
	}
	return ticks, missed - n
}
