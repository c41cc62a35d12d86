package tracking_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/tracking"
)

// A mail is made and marked by one clock of Postgres, and opened under another one, by a process that has started
// since.
func TestLinksOfMailsLeadToTheirTargetsAndCountWhenTheClockOfPostgresIsSet(t *testing.T) {
	t.Parallel()
	server, set := testkit.PostgresWithClock(t)
	s := openOn(t, &testkit.Database{
		URL: server.URL, App: testkit.Open(t, server.URL, postgres.App),
		System: testkit.Open(t, server.URL, postgres.System),
	})
	person := &tracking.Visit{Agent: firefox, IP: netip.MustParseAddr("203.0.113.7")}
	for _, c := range []struct{ made, opened time.Duration }{
		{time.Hour, 0}, {0, time.Hour}, {-time.Hour, 0}, {0, -time.Hour}, {time.Hour, -time.Hour},
	} {
		set(c.made)
		m := s.send()
		set(c.opened)
		r := tracking.NewRecorder(s.App, s.System, s.box)
		if err := r.Open(t.Context(), m.pixel, person); err != nil {
			t.Errorf("made %s ahead, opened %s ahead: %v", c.made, c.opened, err)
		}
		target, err := r.Click(t.Context(), m.links[0], person)
		if err != nil || target != "https://shop.example/1" {
			t.Errorf("made %s ahead, followed %s ahead: to %q, %v", c.made, c.opened, target, err)
		}
		s.judge()
		if f := s.figures(m.id); f != (figures{Opens: 1, Clicks: 1}) {
			t.Errorf("made %s ahead, opened %s ahead: %+v", c.made, c.opened, f)
		}
	}
}
