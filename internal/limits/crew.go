package limits

import (
	"sync"
	"sync/atomic"
)

// standing is how many goroutines of a crew wait for more work. A new goroutine would have to grow its stack
// for every call of the client, which cost 4 % of a read's samples.
const standing = 64

// crew runs functions beside their callers. It owns its goroutines.
type crew struct {
	work    chan func()
	stop    chan struct{}
	waiting atomic.Int32
	all     sync.WaitGroup
}

func (c *crew) do(fn func()) {
	select {
	case c.work <- fn:
	default:
		c.all.Go(func() { c.serve(fn) })
	}
}

func (c *crew) serve(fn func()) {
	for {
		fn()
		if c.waiting.Add(1) > standing {
			c.waiting.Add(-1)
			return
		}
		select {
		case fn = <-c.work:
			c.waiting.Add(-1)
		case <-c.stop:
			return
		}
	}
}

// close waits for what runs. Nothing may be done after it.
func (c *crew) close() {
	close(c.stop)
	c.all.Wait()
}
