package plan

import "time"

// drawMoment returns a time in the plan's half year: on working days and in working hours mostly, and twice as often at
// its end as at its beginning.
func (m *maker) drawMoment() time.Time {
	for {
		back := max(m.IntN(Days), 0)
		if m.IntN(2*Days) < back { // older days are rarer
			continue
		}

		day := m.until.AddDate(0, 0, -back)
		if isWeekend(day) && !m.chance(15) {
			continue
		}
		if at := m.drawHour(day); !at.After(m.until) {
			return at
		}
	}
}

// drawHour returns a time on the day, between 7 and 19 hours mostly.
func (m *maker) drawHour(day time.Time) time.Time {
	hour := m.between(7, 18)
	if m.chance(8) {
		hour = m.IntN(24)
	}
	year, month, date := day.Date()
	return time.Date(year, month, date, hour, m.IntN(60), m.IntN(60), m.IntN(1000)*int(time.Millisecond), time.UTC)
}

// workdayAfter returns a working day's time from low to high days after at, and always after at.
func (m *maker) workdayAfter(at time.Time, low, high int) time.Time {
	day := at.AddDate(0, 0, m.between(low, high))
	for isWeekend(day) {
		day = day.AddDate(0, 0, 1)
	}

	if next := m.drawHour(day); next.After(at) {
		return next
	}

	return at.Add(time.Duration(m.between(5, 90)) * time.Minute)
}

func isWeekend(t time.Time) bool { return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday }
