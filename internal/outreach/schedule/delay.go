package schedule

import "time"

// Unit is the unit of a delay.
type Unit string

// The units.
const (
	Minutes      Unit = "minutes"
	Hours        Unit = "hours"
	Days         Unit = "days"
	BusinessDays Unit = "business_days"
)

// Delay is the time between two steps.
type Delay struct {
	Value int  `json:"value" doc:"Number of units"`
	Unit  Unit `json:"unit" doc:"Unit; business days skip weekends and holidays"`
}

// After returns the instant that is d after at. zone and s matter for days and business days only.
func (d Delay) After(at time.Time, s *Schedule, zone *time.Location) time.Time {
	switch d.Unit {
	case Minutes:
		return at.Add(time.Duration(d.Value) * time.Minute)
	case Hours:
		return at.Add(time.Duration(d.Value) * time.Hour)
	case Days:
		return later(at, zone, func(day Date) Date { return day.Add(d.Value) })
	case BusinessDays:
		return later(at, zone, func(day Date) Date { return s.addWorkdays(day, d.Value) })
	}
	return at
}

// later returns at with its date replaced, at the same wall clock of zone.
func later(at time.Time, zone *time.Location, move func(Date) Date) time.Time {
	local := at.In(zone)
	from := DateOf(local)
	to := move(from)
	if to == from {
		return at
	}
	_, offset := local.Zone()
	clock := local.Add(time.Duration(offset) * time.Second).Sub(from.wall(0))
	first, _ := resolve(to.wall(clock), zone)
	return first
}

// addWorkdays returns the n'th business day after the date.
func (s *Schedule) addWorkdays(day Date, n int) Date {
	for range horizon + 2*n { // bounds the walk for a schedule of holidays only
		if n <= 0 {
			break
		}
		if day = day.Add(1); s.workday(day) {
			n--
		}
	}
	return day
}
