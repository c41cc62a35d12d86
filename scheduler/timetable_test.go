package scheduler

import (
	"testing"
	"time"
)

func TestATickIsTheLatestPlannedTime(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		v, err := time.Parse(time.DateTime, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		every, past time.Duration
		now, want   string
	}{
		{time.Hour, 7 * time.Minute, "2026-03-01 10:07:00", "2026-03-01 10:07:00"},
		{time.Hour, 7 * time.Minute, "2026-03-01 10:06:59", "2026-03-01 09:07:00"},
		{24 * time.Hour, 3 * time.Hour, "2026-03-01 02:00:00", "2026-02-28 03:00:00"},
		{time.Minute, 0, "2026-03-01 02:00:59", "2026-03-01 02:00:00"},
	} {
		if got := (Entry{Every: c.every, Past: c.past}).tickAt(at(c.now)); !got.Equal(at(c.want)) {
			t.Errorf("every %s past %s at %s: %s, want %s", c.every, c.past, c.now, got, c.want)
		}
	}
}
