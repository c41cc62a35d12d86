package httpx

import (
	"context"
	"sync"
)

// streams are the open streams of a server. The server does not wait for them itself, since it has given their
// connections away.
type streams struct {
	mu      sync.Mutex
	open    map[*struct{ _ byte }]context.CancelFunc
	refused bool
	all     sync.WaitGroup
}

// add returns the context of a new stream and a function to call at its end. ok is false if no stream may begin.
func (s *streams) add(parent context.Context) (ctx context.Context, done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.refused {
		return nil, nil, false
	}
	if s.open == nil {
		s.open = map[*struct{ _ byte }]context.CancelFunc{}
	}

	ctx, cancel := context.WithCancel(parent)
	key := new(struct{ _ byte })
	s.open[key] = cancel
	s.all.Add(1)

	return ctx, func() {
		cancel()
		s.mu.Lock()
		delete(s.open, key)
		s.mu.Unlock()
		s.all.Done()
	}, true
}

// end ends the open streams. It does not wait for them.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.open {
		cancel()
	}
}

// endAndRefuse ends the open streams, and lets no other begin.
func (s *streams) endAndRefuse() {
	s.mu.Lock()
	s.refused = true
	s.mu.Unlock()
	s.end()
}

// close is endAndRefuse, and waits for the streams.
func (s *streams) close() {
	s.endAndRefuse()
	s.all.Wait()
}
