package worker

import (
	"sync"
	"time"
)

// sampler lets one of many like events through per interval, for log lines that a fault would repeat for each job. It
// is safe for concurrent use.
type sampler struct {
	every time.Duration
	mu    sync.Mutex
	last  time.Time
	held  int
}

// count counts one event at now. It returns how many came since the last that was let through, this one included, or
// 0 where this one is not to be logged.
func (s *sampler) count(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	if now.Sub(s.last) < s.every {
		return 0
	}
	n := s.held
	s.held, s.last = 0, now
	return n
}
