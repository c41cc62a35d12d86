package auth_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// A session begins by one clock of Postgres and goes on by another one, in a process that has started since.
func TestSessionsGoOnWhenTheClockOfPostgresIsSet(t *testing.T) {
	t.Parallel()
	server, set := testkit.PostgresWithClock(t)
	h := &house{&testkit.Database{
		URL: server.URL, App: testkit.Open(t, server.URL, postgres.App),
		System: testkit.Open(t, server.URL, postgres.System),
	}, testkit.Box(t)}
	set(time.Hour) // the first signing key is made by a clock ahead
	h.person(t, h.service(nil))
	for _, c := range []struct{ begun, used time.Duration }{
		{time.Hour, 0}, {0, time.Hour}, {-time.Hour, 0}, {0, -time.Hour}, {time.Hour, -time.Hour},
	} {
		set(c.begun)
		begun := login(t, h.service(nil))
		set(c.used)
		s := h.service(nil)
		if _, err := s.Verify(t.Context(), begun.AccessToken); err != nil {
			t.Errorf("begun %s ahead, used %s ahead: %v", c.begun, c.used, err)
		}
		var reused []id.ID
		next, err := renew(t, s, begun.RefreshToken, &reused)
		if err != nil || len(reused) > 0 {
			t.Errorf("begun %s ahead, renewed %s ahead: %v, %d reuses", c.begun, c.used, err, len(reused))
			continue
		}
		if _, err := s.Verify(t.Context(), next.AccessToken); err != nil {
			t.Errorf("renewed %s ahead: %v", c.used, err)
		}
	}
}
