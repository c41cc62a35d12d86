package worker

import (
	"sync"
	"time"
)

// sampler lets one of many similar events through per interval, for log lines that a fault would repeat for every job.
// It is safe for concurrent use.
type sampler struct {
	every time.Duration
	mu    sync.Mutex
	last  time.Time
	held  int
}

// count counts one event at now. It returns the number of events since the last one that was let through, including
// this one, or 0 if this one must not be logged.
func (s *sampler) count(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	if now.Sub(s.last) < s.every {
		return 0
	}
	n := s.held
	s.held = 0
	s.last = now
	return n
}
