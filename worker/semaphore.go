package worker

import "sync"

// resizableSemaphore limits concurrent runs. asynq's own limit does not suffice: asynq frees the slot of a run that it
// cancels although the run may still be going, and its servers cannot be resized.
type resizableSemaphore struct {
	mu    sync.Mutex
	free  sync.Cond
	size  int
	taken int
}

func newResizableSemaphore() *resizableSemaphore {
	g := &resizableSemaphore{}
	g.free.L = &g.mu
	return g
}

// acquire waits for a slot.
func (g *resizableSemaphore) acquire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.taken >= g.size {
		g.free.Wait()
	}
	g.taken++
}

func (g *resizableSemaphore) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken--
	g.free.Signal()
}

// resize sets the limit to n. Runs in progress keep their slots, even if there are more than n.
func (g *resizableSemaphore) resize(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size = n
	g.free.Broadcast()
}
