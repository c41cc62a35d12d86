package outbound

import (
	"context"
	"sync"
)

// Budget is a number of bytes of memory that connections share, so that many servers which each stay within the bounds
// of one connection do not use more together. It is safe for concurrent use.
type Budget struct {
	mu   sync.Mutex
	size int
	left int
	more chan struct{} // closed when bytes are given back
}

// NewBudget returns a budget of that many bytes.
func NewBudget(size int) *Budget { return &Budget{size: size, left: size, more: make(chan struct{})} }

// Take reserves n bytes, or all if n is more than there are, and returns how many. It waits until they are free or ctx
// ends. A small reservation does not wait for a large one that waits.
func (b *Budget) Take(ctx context.Context, n int) (int, error) {
	for {
		b.mu.Lock()
		want, more := min(n, b.size), b.more
		if want <= b.left {
			b.left -= want
			b.mu.Unlock()
			return want, nil
		}
		b.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// TryTake reserves n bytes if they are free, and reports whether they were.
func (b *Budget) TryTake(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// Give gives n reserved bytes back.
func (b *Budget) Give(n int) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
	close(b.more)
	b.more = make(chan struct{})
}
