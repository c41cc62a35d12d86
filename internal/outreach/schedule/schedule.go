package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Clock is a reading of a wall clock in minutes after midnight, from 0 to 24 * 60.
type Clock int

// ParseClock parses "09:30". "24:00" is the end of the day.
func ParseClock(s string) (Clock, error) {
	if len(s) != 5 || s[2] != ':' {
		return 0, fmt.Errorf("%q is not a time of day like 09:30", s)
	}
	h, err := strconv.ParseUint(s[:2], 10, 8)
	m, err2 := strconv.ParseUint(s[3:], 10, 8)
	c := Clock(h*60 + m)
	if errors.Join(err, err2) != nil || m > 59 || c > 24*60 {
		return 0, fmt.Errorf("%q is not a time of day like 09:30", s)
	}
	return c, nil
}

// String returns the reading as "09:30".
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// Schedule is the days and the hours at which mail may be sent. From is before To.
type Schedule struct {
	Days     [7]bool // by time.Weekday
	From, To Clock
	Holidays map[Date]struct{}
}

// horizon is how many days Next looks ahead. A schedule whose next window is later has none, for the caller's purpose.
const horizon = 800

// Next returns the first window in zone that ends after at: it is open now if opens is not after at. It returns false
// if there is none within two years, because no day is chosen or because of the holidays.
func (s *Schedule) Next(at time.Time, zone *time.Location) (opens, closes time.Time, ok bool) {
	// The window of the date before can end after the local midnight, where midnight is repeated.
	day := DateOf(at.In(zone)).Add(-1)
	for range horizon {
		if opens, closes = s.window(day, zone); opens.Before(closes) && closes.After(at) {
			return opens, closes, true
		}
		day = day.Add(1)
	}
	return time.Time{}, time.Time{}, false
}

// window returns the window of the date. It is empty if opens is not before closes.
func (s *Schedule) window(day Date, zone *time.Location) (opens, closes time.Time) {
	if _, holiday := s.Holidays[day]; holiday || !s.Days[day.Weekday()] {
		return opens, closes
	}
	opens, _ = resolve(day.wall(time.Duration(s.From)*time.Minute), zone)
	_, closes = resolve(day.wall(time.Duration(s.To)*time.Minute), zone)
	return opens, closes
}

// workday reports whether the date is a business day: neither a Saturday nor a Sunday nor a holiday. The days of the
// schedule do not matter.
func (s *Schedule) workday(day Date) bool {
	_, holiday := s.Holidays[day]
	return !holiday && day.Weekday() != time.Saturday && day.Weekday() != time.Sunday
}
