package scheduler

import "time"

// Missed is an entry's policy for ticks that were missed because no scheduler or no database was available.
type Missed int

// The policies. None makes up for a tick older than a day.
const (
	One  Missed = iota // makes up for the latest missed tick
	Skip               // makes up for none; a tick happens within a minute or never
	All                // makes up for each missed tick, at most the newest thousand
)

// String returns the policy's name for operators.
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
	// horizon is how late a tick may be made up for. Rows of ticks are kept for seven days, so a late process cannot
	// repeat a tick after its row was deleted.
	horizon = 24 * time.Hour
	// onTime is how late a tick under Skip may happen, to allow for a restart or a short outage.
	onTime = time.Minute
	// most is how many ticks of an entry are made up for at once.
	most = 1000
)

// dueTicks returns the ticks to offer at now, oldest first, and the number of ticks left out for good. last is the
// latest tick that has happened or was left out, or zero for a new entry, which has missed none.
func (e Entry) dueTicks(last, now time.Time) (ticks []time.Time, left int) {
	latest := e.tickAt(now)
	if !latest.After(last) {
		return nil, 0
	}

	missed := 1
	if !last.IsZero() {
		// If the entry's interval was changed, last lies between two ticks of the new interval.
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
