package testkit

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Race runs two functions at the same time and returns when both have returned. One of them begins up to most later:
// the first one if n is even, else the second one. So many races see both orders.
func Race(n int, most time.Duration, first, second func()) {
	var heads [2]time.Duration
	heads[n%2] = rand.N(most) //nolint:gosec // any time will do
	var both sync.WaitGroup
	begin := make(chan struct{})
	for i, run := range []func(){first, second} {
		both.Go(func() {
			<-begin
			<-time.After(heads[i])
			run()
		})
	}
	close(begin)
	both.Wait()
}
