package worker

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// begins begins calls until one is refused, at most 1000, and returns them.
func (c *calls) begins(org id.ID, host func(n int) string) (all []*outsideCall) {
	for n := range 1000 {
		one, _ := c.beginCall(org, host(n))
		if one == nil {
			return all
		}
		all = append(all, one)
	}
	return all
}

func only(int) string { return "a.example:25" }

func TestCallsOfOneOrgAndOfOneHostLeaveSlotsForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		c.resize(callLimitsOf(64)[general])
		first, second := id.New(), id.New()
		held := c.begins(first, only)
		if len(held) != 16 {
			t.Errorf("one org has %d of 64 slots, want 16", len(held))
		}
		for _, one := range held[4:] {
			c.endCall(one)
		}
		time.Sleep(longCall) //nolint:forbidigo // the bubble's clock
		if more := c.begins(first, only); len(more) != 0 {
			t.Errorf("beside 4 long calls an org gets %d more to the same server", len(more))
		}
		one, _ := c.beginCall(first, "b.example:25")
		if other, _ := c.beginCall(second, "a.example:25"); one == nil || other == nil {
			t.Error("long calls of an org to a server hold up another server, or another org")
		}
		for range 3 { // orgs whose servers do not respond either
			c.begins(id.New(), strconv.Itoa)
		}
		if c.all > 48 {
			t.Errorf("%d of 64 slots are held by calls", c.all)
		}
	})
}

func TestAnOrgWithManyShortCallsWaitsForAMomentOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		c.resize(callLimitsOf(64)[general])
		org := id.New()
		c.begins(org, strconv.Itoa)
		if _, again := c.beginCall(org, "another"); again != callSoon {
			t.Errorf("beside short calls asked again in %s", again)
		}
		time.Sleep(longCall) //nolint:forbidigo // the bubble's clock
		if _, again := c.beginCall(org, "another"); again != callLater {
			t.Errorf("beside long calls asked again in %s", again)
		}
	})
}

func TestACallWaitsForOneThatEndsInTimeAndIsPutOffOtherwise(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		c.resize(callLimitsOf(64)[general])
		org, began := id.New(), time.Now()
		held := c.begins(org, strconv.Itoa)
		done := make(chan *outsideCall, 100)
		for range 40 {
			go func() {
				one, _ := c.awaitCall(org, "another")
				done <- one
			}()
		}
		synctest.Wait()
		if waiting, _ := c.counts(org); waiting != 16 || len(done) != 24 {
			t.Errorf("%d calls wait, and %d do not, want 16 and 24", waiting, len(done))
		}
		time.Sleep(callSoon / 2) //nolint:forbidigo // the bubble's clock
		c.endCall(held[0])
		synctest.Wait()
		if waiting, running := c.counts(org); waiting != 15 || running != 16 {
			t.Errorf("after one call has ended, %d wait, and %d are under way", waiting, running)
		}
		begun := 0
		for range 40 {
			if <-done != nil {
				begun++
			}
		}
		waiting, _ := c.counts(org)
		if took := time.Since(began); begun != 1 || waiting != 0 || took != callSoon {
			t.Errorf("%d calls began, %d wait after %s", begun, waiting, took)
		}
	})
}

// counts returns how many calls wait, and how many of an org are under way.
func (c *calls) counts(org id.ID) (waiting, running int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting, c.orgs[org]
}

func TestAWorkerWithFewSlotsLeavesOneForAnotherOrg(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 1, 2: 1, 4: 3, 10: 4, 64: 16, 100: 25} {
		if got := callLimitsOf(n)[general].org; got != want {
			t.Errorf("of %d slots an org may have %d, want %d", n, got, want)
		}
	}
}

func TestCallsThatEndInTimeAreNotLimitedByHost(t *testing.T) {
	t.Parallel()
	c := newCalls()
	c.resize(callLimitsOf(64)[general])
	org := id.New()
	for range 1000 {
		for _, one := range c.begins(org, only) {
			c.endCall(one)
		}
	}
	if c.all != 0 || len(c.orgs) != 0 || len(c.hosts) != 0 {
		t.Errorf("%d calls are left", c.all)
	}
}
