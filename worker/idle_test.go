package worker

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// newWatched returns lanes that are watched on a Redis of the test.
func newWatched(t *testing.T) (*idleLanes, redis.UniversalClient) {
	t.Helper()
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	l := newIdleLanes(&redisHealth{})
	ctx, stop := context.WithCancel(t.Context())
	var watches sync.WaitGroup
	for _, lane := range queue.Lanes() {
		watches.Go(func() { l.watchLane(ctx, client, lane) })
	}
	t.Cleanup(func() {
		stop()
		watches.Wait()
		_ = client.Close()
	})
	for !l.sleepPoll(t.Context()) { // until all lanes have been watched for as long as a sleep takes
		runtime.Gosched()
	}
	return l, client
}

func TestATaskOfAnyLaneEndsTheSleepAndStaysWhereItIs(t *testing.T) {
	t.Parallel()
	l, client := newWatched(t)
	for _, lane := range queue.Lanes() {
		for !l.sleepPoll(t.Context()) {
			runtime.Gosched()
		}
		pending := asynqx.Key(lane, asynqx.Pending)
		want := []string{"third", "second", "first"}
		l.mu.Lock()
		wake := l.wake
		l.mu.Unlock()
		if err := client.LPush(t.Context(), pending, "first", "second", "third").Err(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-wake:
		case <-time.After(time.Minute):
			t.Fatalf("%s: no poll was woken", lane)
		}
		if got := client.LRange(t.Context(), pending, 0, -1).Val(); !slices.Equal(got, want) {
			t.Errorf("%s: the pending list is %q, want %q", lane, got, want)
		}
		if err := client.Del(t.Context(), pending).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoPollSleepsWhileALaneIsNotWatched(t *testing.T) {
	t.Parallel()
	l := newIdleLanes(&redisHealth{})
	l.came.Store(0)
	for _, lane := range queue.Lanes() {
		if l.sleepPoll(t.Context()) {
			t.Errorf("a poll slept while only %v were watched", l.watched)
		}
		l.watched[lane] = true
	}
	if !l.sleepPoll(t.Context()) {
		t.Error("no poll slept although all lanes were watched")
	}
	l.noteTask()
	if l.sleepPoll(t.Context()) {
		t.Error("a poll slept right after a task")
	}
}
