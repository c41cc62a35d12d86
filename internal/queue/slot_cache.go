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
	all map[slotKey]credit
}

type slotKey struct {
	org  id.ID
	lane Lane
}

type credit struct {
	kind  string
	left  int
	asked time.Time
}

type slotCacheKey struct{}

// slotCacheOf returns the slotCache of tx's pool.
func slotCacheOf(tx *postgres.Tx) *slotCache {
	return tx.PoolValue(slotCacheKey{}, func() any { return &slotCache{all: map[slotKey]credit{}} }).(*slotCache)
}

// take uses one credit and reports whether there was one.
func (c *slotCache) take(of slotKey, kind string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, known := c.all[of]
	if !known || now.kind != kind || now.left == 0 || time.Since(now.asked) > creditLife {
		return false
	}
	now.left--
	c.all[of] = now
	return true
}

// answer records the result of the check made at asked: whether more slots are free. The first positive check after a
// pause gives no credit, because a single job is not yet a series; each further one resets the credit to creditJobs.
func (c *slotCache) answer(of slotKey, kind string, asked time.Time, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !more {
		delete(c.all, of)
		return
	}
	if len(c.all) >= creditOrgs {
		clear(c.all)
	}
	now := credit{kind: kind, asked: asked}
	if before, known := c.all[of]; known && before.kind == kind && asked.Sub(before.asked) < creditLife {
		now.left = creditJobs
	}
	c.all[of] = now
}
