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
	s := &resizableSemaphore{}
	s.free.L = &s.mu
	return s
}

// acquire waits for a slot.
func (s *resizableSemaphore) acquire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.taken >= s.size {
		s.free.Wait()
	}
	s.taken++
}

func (s *resizableSemaphore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.free.Signal()
}

// resize sets the limit to n. Runs in progress keep their slots, even if there are more than n.
func (s *resizableSemaphore) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = n
	s.free.Broadcast()
}
