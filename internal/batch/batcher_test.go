package batch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/funnelwork/funnelwork/internal/batch"
)

func TestWhatComesAloneGoesAtOnceAndWhatFollowsGoesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := batch.Batcher[int]{Interval: 3 * time.Millisecond, FlushSize: 4, MaxSize: 6}
		others := make(chan int, 10)
		began := time.Now()
		trip := func(what string, sent []int, want int, at time.Duration) {
			t.Helper()
			for _, n := range sent {
				others <- n
			}
			load := c.Collect(nil, 0, others)
			if took := time.Since(began); len(load) != want || took != at {
				t.Errorf("%s: %d went at %s, want %d at %s", what, len(load), took, want, at)
			}
		}
		trip("the first of all", nil, 1, 0)
		trip("one that follows", []int{1}, 2, 3*time.Millisecond)
		time.AfterFunc(time.Millisecond, func() { others <- 1 })
		trip("one that comes while another waits", nil, 2, 6*time.Millisecond)
		trip("enough", []int{1, 2, 3}, 4, 6*time.Millisecond)
		trip("more than go together", []int{1, 2, 3, 4, 5, 6, 7, 8}, 6, 6*time.Millisecond)
		for len(others) > 0 {
			<-others
		}
		<-time.After(3 * time.Millisecond)
		trip("one after a pause", nil, 1, 9*time.Millisecond)
	})
}
