package chaos_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Postgres crashes and recovers, and is then restarted as by an operator, while clients create contacts.
func TestPostgresMayBeRestartedUnderLoad(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	h := openOn(t, server.URL)
	total := sized(1000, 20000)
	apis := []*process{h.api("api1", "FUNNELWORK_RATE_LIMIT=off"), h.api("api2", "FUNNELWORK_RATE_LIMIT=off")}
	keys := h.orgs(apis[0].url, 10, true)
	h.worker("worker1", 10)
	h.worker("worker2", 10)
	f := h.drive([]string{apis[0].url, apis[1].url}, keys, total, 16)
	for n, end := range []func(){server.Crash, server.Stop} {
		f.may.Store(int64((2*n + 1) * total / 5))
		h.wait(giveUpAfter, "some are created", func() bool { return f.done.Load() >= int64(4*n+1)*int64(total)/10 })
		end()
		f.may.Store(int64((2*n + 2) * total / 5))
		refused := f.status(503)
		h.wait(giveUpAfter, "requests are refused", func() bool { return f.status(503) > refused+20 })
		<-time.After(sized(time.Second, 10*time.Second))
		server.Start()
		back := time.Now()
		created := f.status(201)
		h.wait(giveUpAfter, "requests are served again", func() bool { return f.status(201) > created })
		h.figure("first request served after the return", "", "%.2f s", time.Since(back).Seconds())
	}
	f.let()
	last := time.Now()
	f.settled()
	h.figure("all done after the last request", "", "%.1f s", time.Since(last).Seconds())
	h.figure("statuses", "201, 503", "%v", f.statuses)
}

// The primary is killed under load and its standby is promoted. The primary has waited for the standby in each commit
// that was answered, so the promoted server has all of them.
func TestWhatWasAnsweredIsOnThePromotedStandby(t *testing.T) {
	t.Parallel()
	primary := testkit.RealPostgres(t)
	second := primary.Standby()
	h := openOn(t, testkit.AnyOf(t, primary, second))
	// After the base backup, so that the promoted server does not wait for a standby.
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := h.sql.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	h.until(giveUpAfter, "the standby is synchronous", func() bool {
		return h.count("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	total := sized(600, 20000)
	apis := []*process{h.api("api1", "FUNNELWORK_RATE_LIMIT=off"), h.api("api2", "FUNNELWORK_RATE_LIMIT=off")}
	keys := h.orgs(apis[0].url, 10, true)
	h.worker("worker1", 10)
	h.worker("worker2", 10)
	f := h.drive([]string{apis[0].url, apis[1].url}, keys, total, 16)
	f.may.Store(int64(total / 2))
	h.wait(giveUpAfter, "some are created", func() bool { return f.done.Load() >= int64(total/4) })
	primary.Kill()
	dead, refused := time.Now(), f.status(503)
	h.wait(giveUpAfter, "requests are refused", func() bool { return f.status(503) > refused+20 })
	second.Promote()
	promoted, created := time.Now(), f.status(201)
	h.wait(giveUpAfter, "requests are served by the promoted server", func() bool { return f.status(201) > created })
	h.figure("promoted after the kill", "", "%.2f s", promoted.Sub(dead).Seconds())
	h.figure("first request served after the promotion", "", "%.2f s", time.Since(promoted).Seconds())
	f.let()
	last := time.Now()
	f.settled()
	h.figure("all done after the last request", "", "%.1f s", time.Since(last).Seconds())
	h.figure("statuses", "201, 200, 503", "%v", f.statuses)
}
