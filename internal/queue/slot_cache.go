package queue

import (
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Limits of adding jobs without a slot check. job_wake in the migrations must match creditJobs.
const (
	creditJobs = 8                      // free slots that a positive check guarantees
	creditLife = 200 * time.Millisecond // how long a check is valid
	creditOrgs = 4096                   // entries per process
)

// slotCache counts the jobs that this process may enqueue without another slot check. A check costs Postgres about as
// much as the job's row. If a check finds more than creditJobs free slots, the next creditJobs jobs of the same org,
// lane and kind skip it for creditLife. A producer that adds jobs one after another never exceeds MaxInFlight.
// Concurrent transactions may exceed it by one job each, since they do not see each other's rows, and the cache may add
// creditJobs per process. A pause in that time still takes effect, because the claim checks pauses as well.
type slotCache struct {
	mu  sync.Mutex
	all map[slotKey]*credit
}

type slotKey struct {
	org  id.ID
	lane Lane
}

// credit is what the last positive check allows jobs of a kind.
type credit struct {
	kind  string
	left  int
	taken int       // jobs that ever skipped a check
	asked time.Time // when the last positive check began; zero if the last check was negative
}

// slotCheck is a slot check that has begun.
type slotCheck struct {
	credit *credit
	taken  int // credit.taken at its beginning
	at     time.Time
}

type slotCacheKey struct{}

// slotCacheOf returns the slotCache of tx's pool.
func slotCacheOf(tx *postgres.Tx) *slotCache {
	return tx.PoolValue(slotCacheKey{}, func() any { return &slotCache{all: map[slotKey]*credit{}} }).(*slotCache)
}

// useCredit uses one credit and reports whether there was one.
func (c *slotCache) useCredit(of slotKey, kind string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.all[of]
	if now == nil || now.kind != kind || now.left == 0 || time.Since(now.asked) > creditLife {
		return false
	}
	now.left--
	now.taken++
	return true
}

// beginCheck returns a new check, whose result answer records. It must be called before the check's statement runs.
func (c *slotCache) beginCheck(of slotKey, kind string) slotCheck {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.all[of]
	if now == nil || now.kind != kind {
		if len(c.all) >= creditOrgs {
			clear(c.all)
		}
		now = &credit{kind: kind}
		c.all[of] = now
	}
	return slotCheck{now, now.taken, time.Now()}
}

// recordCheck records the result of a check: whether more slots are free. The first positive check after a pause gives
// no credit, because a single job is not yet a series. Each further one sets the credit to creditJobs, less the jobs
// that skipped a check since this one began, since it may not have seen them: otherwise checks that overlap would each
// give the same free slots away.
func (c *slotCache) recordCheck(of slotKey, check slotCheck, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := check.credit
	switch {
	case c.all[of] != now: // replaced by another kind
	case !more:
		now.left, now.asked = 0, time.Time{}
	default:
		if check.at.Sub(now.asked) < creditLife {
			now.left = max(0, creditJobs-(now.taken-check.taken))
		}
		now.asked = check.at
	}
}
