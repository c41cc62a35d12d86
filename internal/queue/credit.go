package queue

import (
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Bounds of what is added unasked. job_wake in the migrations knows creditJobs too.
const (
	creditJobs = 8                      // slots that are free behind an answer that gives credit
	creditLife = 200 * time.Millisecond // after which it is asked again
	creditOrgs = 4096                   // orgs and lanes of which a process keeps credits
)

// credits are what this process may push without asking for slots again. Asking costs Postgres about as much as the
// job's row does. So an answer that more than creditJobs slots are free lets the next jobs of the same org, lane and
// kind pass, as many and for a moment. Who adds one after the other never overdraws a window. Transactions that are
// open side by side may, by one each, since none sees the others' rows; credits add creditJobs for each process.
// A pause that comes in that moment is kept all the same: the claim asks as well.
type credits struct {
	mu  sync.Mutex
	all map[drawer]credit
}

type drawer struct {
	org  id.ID
	lane Lane
}

type credit struct {
	kind  string
	left  int
	asked time.Time
}

type creditsKey struct{}

// creditsOf are those of the process's pool that tx is of.
func creditsOf(tx *postgres.Tx) *credits {
	return tx.Keep(creditsKey{}, func() any { return &credits{all: map[drawer]credit{}} }).(*credits)
}

// take uses one up, if there is one.
func (c *credits) take(of drawer, kind string) bool {
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

// answer is what was said to who asked at the given time: whether more slots are free. The first such answer for a while
// gives no credit, as one job is not yet job after job; after any other it starts over.
func (c *credits) answer(of drawer, kind string, asked time.Time, more bool) {
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
