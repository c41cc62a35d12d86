package chaos_test

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Processes of every role are killed at random, one after the other, while clients create contacts. Each contact makes
// two jobs, one with row effects and one with an external call; a timetable entry adds more.
func TestRandomKillsLoseNothingAndDoubleNoRow(t *testing.T) {
	t.Parallel()
	h := open(t)
	contacts, kills, pause := sized(1000, 5000), sized(40, 500), 250*time.Millisecond
	apis := []*process{h.api("api1", "FUNNELWORK_RATE_LIMIT=off"), h.api("api2", "FUNNELWORK_RATE_LIMIT=off")}
	keys := h.orgs(apis[0].url, 10, true)
	fleet := slices.Concat(apis, []*process{
		h.worker("worker1", 10), h.worker("worker2", 10), h.worker("worker3", 10),
		h.scheduler("scheduler1", 100*time.Millisecond), h.scheduler("scheduler2", 100*time.Millisecond),
	})
	f := h.drive([]string{apis[0].url, apis[1].url}, keys, contacts, 8)
	begin := time.Now()
	killed := map[string]int{}
	for k := range kills {
		f.may.Store(int64(contacts * (k + 1) / kills))
		<-time.After(pause/2 + rand.N(pause))
		p := fleet[rand.IntN(len(fleet))]
		p.kill(syscall.SIGKILL)
		killed[p.name[:len(p.name)-1]]++
		p.start()
	}
	last := time.Now()
	h.figure("kills", "", "%d in %s: %v", kills, time.Since(begin).Round(time.Second), killed)
	f.let()
	for _, p := range fleet[5:] {
		p.kill(syscall.SIGTERM)
	}
	f.settled()
	h.figure("all done after the last kill", "120 s", "%.1f s", time.Since(last).Seconds())
	ticks := h.count("SELECT count(*) FROM tick")
	h.once("chaos.beat", ticks)
	h.figure("requests that a kill cut off", "", "%d", f.statuses[0])
}

// Five schedulers share a timetable entry of 20 ms and are killed at random.
func TestFiveSchedulersThatAreKilledMakeOneJobOfEachTick(t *testing.T) {
	t.Parallel()
	h := open(t)
	const every = 20 * time.Millisecond
	want := sized(150, 1000)
	h.worker("worker", 10)
	var fleet []*process
	for _, name := range []string{"scheduler1", "scheduler2", "scheduler3", "scheduler4", "scheduler5"} {
		fleet = append(fleet, h.scheduler(name, every))
	}
	kills := 0
	h.until(giveUpAfter, "enough ticks", func() bool {
		// Ticks are made up for 20 s, within which a busy machine may not start a scheduler: one of them always runs.
		running := slices.DeleteFunc(slices.Clone(fleet), func(p *process) bool { return !p.running() })
		if len(running) < 2 {
			return false
		}
		p := running[rand.IntN(len(running))]
		p.kill(syscall.SIGKILL)
		<-time.After(rand.N(100 * time.Millisecond))
		p.start()
		kills++
		return h.count("SELECT count(*) FROM tick") >= want
	})
	for _, p := range fleet {
		p.kill(syscall.SIGKILL)
	}
	h.until(giveUpAfter, "all jobs done", func() bool { return h.open() == 0 })
	ticks := h.count("SELECT count(*) FROM tick")
	planned := h.count("SELECT round(extract(epoch FROM max(tick) - min(tick)) / 0.02)::int + 1 FROM tick")
	h.figure("kills", "", "%d", kills)
	h.figure("ticks, of those planned in that time", "all", "%d of %d", ticks, planned)
	if ticks != planned {
		t.Errorf("%d ticks of %d happened: some were left out", ticks, planned)
	}
	h.once("chaos.beat", ticks)
}

// Two workers are in the middle of a call. One is killed; the other is stopped past its lease and then continued.
func TestTheJobOfAKilledOrStoppedWorkerRunsAgainAndTheOldRunCannotCommit(t *testing.T) {
	t.Parallel()
	h := open(t)
	db, org := h.asker(), newOrg()
	hold := make(chan struct{})
	h.receiver.hold = hold
	begun := func(n int) func() bool {
		return func() bool {
			keys, _ := h.receiver.called()
			return keys == n
		}
	}
	h.add(db, org, call, 1, args{To: h.receiver.URL})
	stopped := h.worker("stopped", 2)
	h.until(giveUpAfter, "the first job runs", begun(1))
	stopped.signal(syscall.SIGSTOP)
	killed := h.worker("killed", 2)
	h.add(db, org, call, 1, args{To: h.receiver.URL})
	h.until(giveUpAfter, "the second job runs", begun(2))
	killed.kill(syscall.SIGKILL)
	at := time.Now()
	h.worker("heir", 4)
	again := map[string]time.Duration{}
	h.until(giveUpAfter, "both run again", func() bool {
		h.receiver.mu.Lock()
		defer h.receiver.mu.Unlock()
		for key, n := range h.receiver.calls {
			if _, seen := again[key]; n == 2 && !seen {
				again[key] = time.Since(at)
			}
		}
		return len(again) == 2
	})
	slowest := time.Duration(0)
	for _, d := range again {
		slowest = max(slowest, d)
	}
	h.figure("both run again after the kill", "30 s", "%.1f s", slowest.Seconds())
	if slowest > sized(time.Minute, 30*time.Second) {
		t.Errorf("they ran again after %s", slowest)
	}
	close(hold)
	h.until(giveUpAfter, "both done", func() bool { return h.open() == 0 })
	stopped.signal(syscall.SIGCONT)
	h.until(giveUpAfter, "the stopped worker's verdict is refused", func() bool {
		return stopped.said(`"outcome":"fenced"`)
	})
	h.once("chaos.call", 2)
	if n := h.count("SELECT count(*) FROM effect WHERE attempt <> 1"); n > 0 {
		t.Errorf("%d attempts were spent on the kill", n)
	}
	h.figure("verdict of the stopped worker, continued", "refused", "refused")
}
