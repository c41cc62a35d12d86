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
	sizes := slots(n)
	shared, remote := sizes[general]+sizes[reserved], sizes[remotePool]
	return map[string]callLimits{
		general: {
			all: share(shared*3, 4), org: orgShare(shared), longOrgHost: share(shared, 16), longHost: share(shared, 4),
		},
		remotePool:  {org: orgShare(remote), longOrgHost: share(remote, 16), longHost: share(remote, 4)},
		webhookPool: {longHost: share(sizes[webhookPool], 2)},
	}
}

func share(n, of int) int { return max(1, n/of) }

// orgShare is a quarter, but in a small pool four slots, as long as one is left for another org.
func orgShare(n int) int { return max(1, n/4, min(4, n-1)) }

// calls is the calls of servers that have slots of a pool. A call keeps its slot until its run ends, so a server that
// does not respond must not get many: the limits leave slots for other orgs and for other servers.
type calls struct {
	mu     sync.Mutex
	limits callLimits
	all    int
	orgs   map[id.ID]int
	hosts  map[string]map[*outsideCall]struct{}
}

// outsideCall is one call.
type outsideCall struct {
	org   id.ID
	host  string
	began time.Time
}

func newCalls() *calls {
	return &calls{orgs: map[id.ID]int{}, hosts: map[string]map[*outsideCall]struct{}{}}
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
	ofOrg, ofAll := c.long(org, host, now)
	l := c.limits
	switch {
	case reached(ofOrg, l.longOrgHost), reached(ofAll, l.longHost):
		return nil, callLater
	case reached(c.all, l.all), reached(c.orgs[org], l.org):
		if 2*c.longOf(org, now) >= c.orgs[org] && c.orgs[org] > 0 {
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

func reached(n, limit int) bool { return limit > 0 && n >= limit }

// long returns how many calls to a server take long: of one org, and of all.
func (c *calls) long(org id.ID, host string, now time.Time) (ofOrg, ofAll int) {
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

// longOf returns how many calls of an org take long.
func (c *calls) longOf(org id.ID, now time.Time) (n int) {
	for _, calls := range c.hosts {
		for one := range calls {
			if one.org == org && now.Sub(one.began) >= longCall {
				n++
			}
		}
	}
	return n
}

func (c *calls) endCall(one *outsideCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.orgs[one.org]--; c.orgs[one.org] == 0 {
		delete(c.orgs, one.org)
	}
	if delete(c.hosts[one.host], one); len(c.hosts[one.host]) == 0 {
		delete(c.hosts, one.host)
	}
}

// limit makes the calls of a run of c count, and returns the function that ends them. A run counts once, for the first
// server that it calls: what it calls later has the same slot.
func (c *calls) limit(run *queue.Claimed) (end func()) {
	var first *outsideCall
	run.LimitCalls(func(host string) (again time.Duration) {
		if first == nil {
			first, again = c.beginCall(run.Org, host)
		}
		return again
	})
	return func() {
		if first != nil {
			c.endCall(first)
		}
	}
}
