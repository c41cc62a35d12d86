package worker

import "sync"

// gate is slots of our own. asynq gives a slot away when it cancels a run, and the run may still be going; and
// asynq's servers cannot be made larger or smaller, while a gate can.
type gate struct {
	mu    sync.Mutex
	free  sync.Cond
	size  int
	taken int
}

func newGate() *gate {
	g := &gate{}
	g.free.L = &g.mu
	return g
}

// enter waits for a slot.
func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.taken >= g.size {
		g.free.Wait()
	}
	g.taken++
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken--
	g.free.Signal()
}

// resize makes it n slots. Runs that are inside stay there, however many they are.
func (g *gate) resize(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size = n
	g.free.Broadcast()
}
