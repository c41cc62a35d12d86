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
		h.wait(time.Minute, "some are created", func() bool { return f.done.Load() >= int64(4*n+1)*int64(total)/10 })
		end()
		f.may.Store(int64((2*n + 2) * total / 5))
		refused := f.status(503)
		h.wait(time.Minute, "requests are refused", func() bool { return f.status(503) > refused+20 })
		<-time.After(sized(time.Second, 10*time.Second))
		server.Start()
		back := time.Now()
		created := f.status(201)
		h.wait(time.Minute, "requests are served again", func() bool { return f.status(201) > created })
		h.figure("first request served after the return", "", "%.2f s", time.Since(back).Seconds())
	}
	f.let()
	last := time.Now()
	f.settled(2 * time.Minute)
	h.figure("all done after the last request", "", "%.1f s", time.Since(last).Seconds())
	h.figure("statuses", "201, 503", "%v", f.statuses)
}
