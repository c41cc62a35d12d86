package schedule

import "time"

// Date is a day of the calendar, in no particular time zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the date of t in t's location.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// ParseDate parses "2006-01-02".
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	return DateOf(t), err
}

// String returns the date as "2006-01-02".
func (d Date) String() string { return d.noon().Format(time.DateOnly) }

// Add returns the date n days later.
func (d Date) Add(n int) Date { return DateOf(d.noon().AddDate(0, 0, n)) }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.noon().Weekday() }

func (d Date) noon() time.Time { return time.Date(d.Year, d.Month, d.Day, 12, 0, 0, 0, time.UTC) }

// wall is a reading of a wall clock: the instant at which a clock of UTC shows it.
func (d Date) wall(sinceMidnight time.Duration) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Add(sinceMidnight)
}

// resolve returns the first and the last instant at which the clock of zone shows the given reading. They differ if the
// hour is repeated. If the clock skips the reading, both are the first instant after the gap.
func resolve(wall time.Time, zone *time.Location) (first, last time.Time) {
	for _, near := range []time.Duration{-24 * time.Hour, 0, 24 * time.Hour} {
		_, offset := wall.Add(near).In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if !shows(at, wall) {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if last.IsZero() || at.After(last) {
			last = at
		}
	}
	if first.IsZero() {
		first = afterGap(wall, zone)
		last = first
	}
	return first, last
}

// shows reports whether the wall clock of at's location shows the reading at at.
func shows(at, wall time.Time) bool {
	_, offset := at.Zone()
	return at.Add(time.Duration(offset) * time.Second).Equal(wall)
}

// afterGap returns the instant at which the clock of zone was set forward over the reading.
func afterGap(wall time.Time, zone *time.Location) time.Time {
	_, offset := wall.Add(-24 * time.Hour).In(zone).Zone() // before the change
	at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
	start, _ := at.ZoneBounds()
	return start
}

// Local returns when the clock of zone shows what the clock of home shows at at: the first of two such instants, and
// the first instant after a gap.
func Local(at time.Time, home, zone *time.Location) time.Time {
	shown := at.In(home)
	_, offset := shown.Zone()
	wall := at.UTC().Add(time.Duration(offset) * time.Second)
	first, _ := resolve(wall, zone)
	return first
}
