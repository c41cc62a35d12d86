package worker

import (
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// longCall is how long a call of a server takes before it counts as long. Servers that respond in time are not limited
// by the number of calls to them.
const longCall = time.Second

// Delays of a run that may not call its server yet. The shorter one is for an org whose calls end in time: it merely
// makes many at once.
const (
	callSoon  = 250 * time.Millisecond
	callLater = 5 * time.Second
)

// callLimits is how many calls of servers that customers name may have slots of a pool at the same time. 0: no limit.
type callLimits struct {
	all         int // of all orgs
	org         int // of one org
	longOrgHost int // that take long: of one org to one server
	longHost    int // that take long: of all orgs to one server
}

// callLimitsOf returns the limits of the pools at a concurrency of n. The pools reserved and general share theirs. In
// the webhooks pool the concurrency keys limit the orgs.
func callLimitsOf(n int) map[string]callLimits {
	sizes := poolSlots(n)
	shared := sizes[general] + sizes[reserved]
	remote := sizes[remotePool]

	return map[string]callLimits{
		general: {
			all: shareOf(shared*3, 4), org: orgShare(shared),
			longOrgHost: shareOf(shared, 16), longHost: shareOf(shared, 4),
		},
		remotePool:  {org: orgShare(remote), longOrgHost: shareOf(remote, 16), longHost: shareOf(remote, 4)},
		webhookPool: {longHost: shareOf(sizes[webhookPool], 2)},
	}
}

func shareOf(n, of int) int { return max(1, n/of) }

// orgShare is a quarter, but in a small pool four slots, as long as one is left for another org.
func orgShare(n int) int { return max(1, n/4, min(4, n-1)) }

// calls is the calls of servers that have slots of a pool. A call keeps its slot until its run ends, so a server that
// does not respond must not get many: the limits leave slots for other orgs and for other servers.
type calls struct {
	mu      sync.Mutex
	limits  callLimits
	all     int
	orgs    map[id.ID]int
	hosts   map[string]map[*outsideCall]struct{}
	ended   chan struct{} // closed when a call ends
	waiting int           // in awaitCall
}

// outsideCall is one call.
type outsideCall struct {
	org   id.ID
	host  string
	began time.Time
}

func newCalls() *calls {
	return &calls{
		orgs: map[id.ID]int{}, hosts: map[string]map[*outsideCall]struct{}{}, ended: make(chan struct{}),
	}
}

func (c *calls) resize(limits callLimits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits = limits
}

// beginCall counts a call, or returns nil and when to ask again. endCall must be called with a call that
// beginCall returned.
func (c *calls) beginCall(org id.ID, host string) (one *outsideCall, again time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	now := time.Now()
	ofOrg, ofAll := c.countLongToHost(org, host, now)
	l := c.limits

	switch {
	case limitReached(ofOrg, l.longOrgHost), limitReached(ofAll, l.longHost):
		return nil, callLater
	case limitReached(c.all, l.all), limitReached(c.orgs[org], l.org):
		if 2*c.countLongOfOrg(org, now) >= c.orgs[org] && c.orgs[org] > 0 {
			return nil, callLater
		}
		return nil, callSoon
	}

	one = &outsideCall{org, host, now}
	c.all++
	c.orgs[org]++
	if c.hosts[host] == nil {
		c.hosts[host] = map[*outsideCall]struct{}{}
	}
	c.hosts[host][one] = struct{}{}
	return one, 0
}

func limitReached(n, limit int) bool { return limit > 0 && n >= limit }

// countLongToHost returns how many calls to a server take long: of one org, and of all.
func (c *calls) countLongToHost(org id.ID, host string, now time.Time) (ofOrg, ofAll int) {
	for one := range c.hosts[host] {
		if now.Sub(one.began) < longCall {
			continue
		}
		ofAll++
		if one.org == org {
			ofOrg++
		}
	}
	return ofOrg, ofAll
}

// countLongOfOrg returns how many calls of an org take long.
func (c *calls) countLongOfOrg(org id.ID, now time.Time) (n int) {
	for _, calls := range c.hosts {
		for one := range calls {
			if one.org == org && now.Sub(one.began) >= longCall {
				n++
			}
		}
	}
	return n
}

// awaitCall is beginCall that waits up to callSoon for calls that end in time. A run that is put off instead costs as
// much as one that calls, and there would be several to each call. No more wait than one org may have calls, since runs
// that wait have slots, too.
func (c *calls) awaitCall(org id.ID, host string) (one *outsideCall, again time.Duration) {
	ended := c.nextEnd()
	one, again = c.beginCall(org, host)
	if again != callSoon || !c.beginWait() {
		return one, again
	}

	defer c.endWait()
	patience := time.NewTimer(callSoon)
	defer patience.Stop()
	for again == callSoon {
		select {
		case <-ended:
			ended = c.nextEnd()
			one, again = c.beginCall(org, host)
		case <-patience.C:
			return nil, callSoon
		}
	}

	return one, again
}

// nextEnd returns a channel that is closed when the next call ends.
func (c *calls) nextEnd() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// beginWait reports whether one more run may wait. endWait ends that.
func (c *calls) beginWait() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if limitReached(c.waiting, c.limits.org) {
		return false
	}
	c.waiting++
	return true
}

func (c *calls) endWait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
}

func (c *calls) endCall(one *outsideCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.ended)
	c.ended = make(chan struct{})
	c.all--
	if c.orgs[one.org]--; c.orgs[one.org] == 0 {
		delete(c.orgs, one.org)
	}
	delete(c.hosts[one.host], one)
	if len(c.hosts[one.host]) == 0 {
		delete(c.hosts, one.host)
	}
}

// limitRun makes the calls of a run of c count, and returns the function that ends them. A run counts once, for the
// first server that it calls: what it calls later has the same slot.
func (c *calls) limitRun(run *queue.Claimed) (end func()) {
	var first *outsideCall
	run.LimitCalls(func(host string) (again time.Duration) {
		if first == nil {
			first, again = c.awaitCall(run.Org, host)
		}
		return again
	})
	return func() {
		if first != nil {
			c.endCall(first)
		}
	}
}
