package schedule_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the table of zones is the same on every machine

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
)

// walk returns the first window that ends after at, as the package's rule says it, by looking at every minute from
// three days before at. It is the oracle of Next.
func walk(s *schedule.Schedule, at time.Time, zone *time.Location) (opens, closes time.Time) {
	type span struct{ first, end time.Time }
	windows := map[schedule.Date]*span{}
	var order []schedule.Date
	end := at.Add(6 * 24 * time.Hour)
	for m := at.Add(-72 * time.Hour).Truncate(time.Minute); m.Before(end); m = m.Add(time.Minute) {
		local := m.In(zone)
		day := schedule.DateOf(local)
		if _, holiday := s.Holidays[day]; holiday || !s.Days[local.Weekday()] {
			continue
		}
		clock := schedule.Clock(local.Hour()*60 + local.Minute())
		w := windows[day]
		if w == nil {
			w = &span{}
			windows[day] = w
			order = append(order, day)
		}
		if clock >= s.From && w.first.IsZero() {
			w.first = m
		}
		if clock < s.To {
			w.end = m.Add(time.Minute)
		}
	}
	for _, day := range order {
		w := windows[day]
		if !w.first.IsZero() && w.first.Before(w.end) && w.end.After(at) {
			return w.first, w.end
		}
	}
	return time.Time{}, time.Time{}
}

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// clocks parses a window.
func clocks(t *testing.T, from, to string) schedule.Schedule {
	t.Helper()
	f, err := schedule.ParseClock(from)
	if err != nil {
		t.Fatal(err)
	}
	u, err := schedule.ParseClock(to)
	if err != nil {
		t.Fatal(err)
	}
	return schedule.Schedule{From: f, To: u}
}

var shapes = [][2]string{
	{"09:00", "17:00"}, {"00:00", "24:00"}, {"02:15", "02:45"}, {"23:30", "24:00"}, {"00:00", "00:45"},
}

func TestWindowsAreThoseOfAWalkOverEveryMinuteAtEveryChangeOfTheClock(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string][]string{
		"Europe/Berlin":       {"2026-03-29", "2026-10-25"},
		"America/New_York":    {"2026-03-08", "2026-11-01"},
		"America/Santiago":    {"2026-09-06", "2026-04-05"},
		"Africa/Cairo":        {"2026-04-24", "2026-10-30"},
		"Asia/Beirut":         {"2026-03-29", "2026-10-25"},
		"Australia/Lord_Howe": {"2026-10-04", "2026-04-05"},
		"Asia/Kolkata":        {"2026-03-29"},
		"UTC":                 {"2026-03-29"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := load(t, name)
			for _, change := range changes {
				for _, shape := range shapes {
					s := clocks(t, shape[0], shape[1])
					s.Days = [7]bool{true, true, false, true, true, true, true}
					s.Holidays = map[schedule.Date]struct{}{{Year: 2026, Month: 3, Day: 27}: {}}
					day, err := time.Parse(time.DateOnly, change)
					if err != nil {
						t.Fatal(err)
					}
					last := day.Add(48 * time.Hour)
					for at := day.Add(-48 * time.Hour); at.Before(last); at = at.Add(211 * time.Minute) {
						wantOpens, wantCloses := walk(&s, at, zone)
						opens, closes, ok := s.Next(at, zone)
						if !ok || !opens.Equal(wantOpens) || !closes.Equal(wantCloses) {
							t.Fatalf("%s, %v, at %v:\n got %v to %v\nwant %v to %v", change, shape, at.In(zone), opens,
								closes, wantOpens.In(zone), wantCloses.In(zone))
						}
					}
				}
			}
		})
	}
}

func TestAScheduleWithoutDaysHasNoWindow(t *testing.T) {
	t.Parallel()
	s := clocks(t, "09:00", "17:00")
	if _, _, ok := s.Next(time.Now(), time.UTC); ok {
		t.Error("a window on no day")
	}
}

func TestDelaysKeepTheWallClockForDaysAndTheElapsedTimeForHours(t *testing.T) {
	t.Parallel()
	s := clocks(t, "09:00", "17:00")
	s.Holidays = map[schedule.Date]struct{}{{Year: 2026, Month: 12, Day: 25}: {}}
	for _, c := range []struct {
		name, zone, from string
		delay            schedule.Delay
		want             string
	}{
		{
			"hours over a change", "Europe/Berlin", "2026-03-28T09:00:00+01:00",
			schedule.Delay{Value: 24, Unit: schedule.Hours},
			"2026-03-29T10:00:00+02:00",
		},
		{
			"a day over a change", "Europe/Berlin", "2026-03-28T09:00:00+01:00",
			schedule.Delay{Value: 1, Unit: schedule.Days},
			"2026-03-29T09:00:00+02:00",
		},
		{
			"into a gap", "Europe/Berlin", "2026-03-28T02:30:00+01:00",
			schedule.Delay{Value: 1, Unit: schedule.Days},
			"2026-03-29T03:00:00+02:00",
		},
		{
			"into a gap west of Greenwich", "America/New_York", "2026-03-07T02:30:00-05:00",
			schedule.Delay{Value: 1, Unit: schedule.Days},
			"2026-03-08T03:00:00-04:00",
		},
		{
			"into a gap at midnight", "America/Santiago", "2026-09-05T00:30:00-04:00",
			schedule.Delay{Value: 1, Unit: schedule.Days},
			"2026-09-06T01:00:00-03:00",
		},
		{
			"into a repeated hour", "Europe/Berlin", "2026-10-24T02:30:00+02:00",
			schedule.Delay{Value: 1, Unit: schedule.Days},
			"2026-10-25T02:30:00+02:00",
		},
		{
			"business days over a weekend and a holiday", "UTC", "2026-12-23T15:20:00Z",
			schedule.Delay{Value: 2, Unit: schedule.BusinessDays},
			"2026-12-28T15:20:00Z",
		},
		{"no days", "UTC", "2026-12-26T15:20:00Z", schedule.Delay{Unit: schedule.BusinessDays}, "2026-12-26T15:20:00Z"},
		{
			"minutes", "UTC", "2026-12-26T15:20:00Z",
			schedule.Delay{Value: 90, Unit: schedule.Minutes},
			"2026-12-26T16:50:00Z",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			from, err := time.Parse(time.RFC3339, c.from)
			if err != nil {
				t.Fatal(err)
			}
			zone := load(t, c.zone)
			got := c.delay.After(from, &s, zone).In(zone).Format(time.RFC3339)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAClockIsParsedOnlyInItsOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]schedule.Clock{"00:00": 0, "09:30": 570, "24:00": 1440} {
		if got, err := schedule.ParseClock(in); err != nil || got != want || got.String() != in {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "9:30", "24:01", "25:00", "12:60", "12-30", "+1:30", "12:+3", "12:3 "} {
		if got, err := schedule.ParseClock(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}
