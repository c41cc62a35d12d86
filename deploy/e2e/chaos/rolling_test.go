package chaos_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer sends requests to the APIs that were ready when it asked them last.
type balancer struct {
	apis  []*process
	ready []atomic.Bool
}

// pick returns the URL of a ready API for the nth request.
func (b *balancer) pick(n int) string {
	for i := range b.apis {
		if at := (n + i) % len(b.apis); b.ready[at].Load() {
			return b.apis[at].url
		}
	}
	return b.apis[n%len(b.apis)].url
}

// watch asks an API ten times a second until ctx ends.
func (b *balancer) watch(ctx context.Context, at int) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		res, err := http.Get(b.apis[at].ops + "/readyz?exclude=redis")
		if err == nil {
			_ = res.Body.Close()
		}
		b.ready[at].Store(err == nil && res.StatusCode == http.StatusOK)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Three APIs, three workers and two schedulers are replaced one after the other, as three Deployments do at once, under
// 50 requests a second. No request fails, and none has to be repeated.
func TestARollingRestartFailsNoRequestAndEachEffectHappensOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	rounds := sized(1, 5)
	settings := []string{"FUNNELWORK_RATE_LIMIT=off", "FUNNELWORK_DRAIN_DELAY=" + sized("3s", "5s")}
	b := &balancer{ready: make([]atomic.Bool, 3)}
	for _, name := range []string{"api1", "api2", "api3"} {
		b.apis = append(b.apis, h.api(name, settings...))
	}
	workers := []*process{h.worker("worker1", 10), h.worker("worker2", 10), h.worker("worker3", 10)}
	schedulers := []*process{
		h.scheduler("scheduler1", 100*time.Millisecond), h.scheduler("scheduler2", 100*time.Millisecond),
	}
	keys := h.orgs(b.apis[0].url, 10, true)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var watching sync.WaitGroup
	for at := range b.apis {
		watching.Go(func() { b.watch(ctx, at) })
	}
	h.until(giveUpAfter, "the balancer knows all APIs", func() bool {
		return b.ready[0].Load() && b.ready[1].Load() && b.ready[2].Load()
	})
	f := h.driveBy(b.pick, keys, 1<<30, 16)
	var pacing sync.WaitGroup
	pacing.Go(func() {
		pace := time.NewTicker(time.Second / 25) // a contact is two requests
		defer pace.Stop()
		for ctx.Err() == nil {
			<-pace.C
			f.may.Add(1)
		}
	})
	begin := time.Now()
	var rolling sync.WaitGroup
	rolling.Go(func() {
		for range rounds {
			for at, api := range b.apis {
				api.terminate()
				api.start()
				for limit := time.Now().Add(5 * time.Minute); !b.ready[at].Load(); <-time.After(10 * time.Millisecond) {
					if time.Now().After(limit) {
						t.Errorf("%s is not ready within five minutes", api.name)
						return
					}
					api.revive()
				}
			}
		}
	})
	for _, deployment := range [][]*process{workers, schedulers} {
		rolling.Go(func() {
			for range rounds {
				for _, p := range deployment {
					p.terminate()
					p.start()
					<-time.After(time.Second) // as an orchestrator waits for the next
				}
			}
		})
	}
	rolling.Wait()
	took := time.Since(begin)
	stop()
	pacing.Wait()
	f.end()
	watching.Wait()
	for _, p := range schedulers {
		p.terminate()
	}
	f.settled()
	ticks := h.count("SELECT count(*) FROM tick")
	h.once("chaos.beat", ticks)
	h.figure("replaced", "", "%d processes in %.0f s", rounds*8, took.Seconds())
	h.figure("requests per second", "50", "%.0f", float64(2*f.total)/took.Seconds())
	h.figure("statuses", "201 and 200 alone", "%v", f.statuses)
	if len(f.statuses) != 2 || f.statuses[201] != f.total || f.statuses[200] != f.total {
		t.Errorf("answers %v, want %d times 201 and 200 alone", f.statuses, f.total)
	}
	if keys, calls := h.receiver.called(); *long && calls != keys {
		t.Errorf("%d calls of %d deliveries: a worker that ends in order repeats none", calls, keys)
	}
}
