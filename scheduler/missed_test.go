package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWhatIsMissedIsMadeUpForAsThePolicySays(t *testing.T) {
	t.Parallel()
	const hour, minute = time.Hour, time.Minute
	now := time.Date(2026, 3, 10, 12, 0, 30, 0, time.UTC) // 30 s after a full hour
	ago := func(d time.Duration) time.Time { return now.Truncate(hour).Add(-d) }
	for _, c := range []struct {
		name   string
		every  time.Duration
		policy Missed
		last   time.Time
		now    time.Time
		ticks  int // ticks offered, ending with the latest
		left   int
	}{
		{"nothing is due", hour, All, ago(0), now, 0, 0},
		{"a tick that a faster clock has made", hour, All, ago(-hour), now, 0, 0},
		{"a new entry begins with its latest tick", hour, One, time.Time{}, now, 1, 0},
		{"a new entry has missed nothing", hour, All, time.Time{}, now, 1, 0},
		{"a new entry's latest tick is long over", hour, Skip, time.Time{}, now.Add(10 * minute), 0, 0},
		{"on time", hour, Skip, ago(hour), now, 1, 0},
		{"a minute late", hour, Skip, ago(hour), now.Add(30 * time.Second), 1, 0},
		{"later", hour, Skip, ago(hour), now.Add(31 * time.Second), 0, 1},
		{"three missed and one on time", hour, Skip, ago(4 * hour), now, 1, 3},
		{"one of four", hour, One, ago(4 * hour), now.Add(20 * minute), 1, 3},
		{"all of four", hour, All, ago(4 * hour), now.Add(20 * minute), 4, 0},
		{"all of a day and not more", hour, All, ago(40 * hour), now, 24, 16},
		{"a day ago to the second", hour, All, ago(40 * hour), now.Add(-30 * time.Second), 25, 15},
		{"the newest thousand", time.Second, All, ago(hour), now, 1000, 2630},
		{
			"rare, and missed by more than a day", 24 * 7 * hour, One, now.Add(-20 * 24 * hour),
			time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC), 0, 3,
		},
		{
			"rare, and missed by less", 24 * 7 * hour, One, now.Add(-20 * 24 * hour),
			time.Date(2026, 3, 9, 23, 0, 0, 0, time.UTC), 1, 2,
		},
		{"last tick of another interval", hour, All, ago(90 * minute), now, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := Entry{Name: "e", Every: c.every, Missed: c.policy}
			ticks, left := e.dueTicks(c.last, c.now)
			if len(ticks) != c.ticks || left != c.left {
				t.Fatalf("%d ticks and %d left out, want %d and %d", len(ticks), left, c.ticks, c.left)
			}
			for i, tick := range ticks {
				if want := e.tickAt(c.now).Add(-time.Duration(len(ticks)-1-i) * e.Every); !tick.Equal(want) {
					t.Errorf("tick %d is %s, want %s", i, tick, want)
				}
			}
		})
	}
}

func TestTheTimetableIsPrintedAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 10, 12, 10, 0, 0, time.UTC)
	entries := []Entry{
		{Name: "often", Every: 90 * time.Second, Missed: Skip},
		{Name: "daily", Every: 24 * time.Hour, Past: 3*time.Hour + 30*time.Minute, Missed: All},
	}
	lines, err := List(t.Context(), nil, entries, at)
	if err != nil {
		t.Fatal(err)
	}
	lines[1].Last, lines[1].Made = at.Add(-time.Hour), at.Add(-time.Minute)
	var out strings.Builder
	if err := Print(&out, lines, true); err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintln(&out)
	if err := Print(&out, lines[:1], false); err != nil {
		t.Fatal(err)
	}
	const want = `ENTRY   PLAN                   MISSED   NEXT                   LAST TICK              MADE AT
often   every 1m30s            skip     2026-03-10 12:10:30Z   never                  -
daily   every 24h, 3h30m past   all      2026-03-11 03:30:00Z   2026-03-10 11:10:00Z   2026-03-10 12:09:00Z

ENTRY   PLAN          MISSED   NEXT
often   every 1m30s   skip     2026-03-10 12:10:30Z
`
	if squeeze(out.String()) != squeeze(want) {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func squeeze(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
