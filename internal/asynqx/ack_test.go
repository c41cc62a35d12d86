package asynqx

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// scripts counts matching scripts sent alone and in pipelines, and those pipelines.
type scripts struct {
	is                     func(*redis.Cmd) bool
	mu                     sync.Mutex
	alone, together, trips int
}

func (s *scripts) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *scripts) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if script, is := cmd.(*redis.Cmd); is && s.is(script) {
			s.mu.Lock()
			s.alone++
			s.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}

func (s *scripts) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		s.mu.Lock()
		before := s.together
		for _, cmd := range cmds {
			if script, is := cmd.(*redis.Cmd); is && s.is(script) {
				s.together++
			}
		}
		if s.together > before {
			s.trips++
		}
		s.mu.Unlock()
		return next(ctx, cmds)
	}
}

// The batcher recognizes asynq's script by its keys. If the keys change, tasks are acknowledged one by one, and this
// test fails.
func TestTasksThatEndShareTheWayToRedis(t *testing.T) {
	t.Parallel()
	const tasks = 200
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	b, seen := NewAckBatcher(client), &scripts{is: acknowledges}
	client.AddHook(seen)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	queue := asynq.NewClientFromRedisClient(client)
	for i := range tasks {
		if _, err := queue.EnqueueContext(ctx, asynq.NewTask("test", nil), asynq.TaskID(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	var ran sync.WaitGroup
	ran.Add(tasks)
	server := asynq.NewServerFromRedisClient(client,
		asynq.Config{Concurrency: 50, TaskCheckInterval: 10 * time.Millisecond, LogLevel: asynq.ErrorLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		ran.Done()
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	ran.Wait()
	server.Shutdown()
	stop()
	running.Wait()
	info, err := asynq.NewInspectorFromRedisClient(client).GetQueueInfo("default")
	if err != nil {
		t.Fatal(err)
	}
	if left := info.Active + info.Pending + info.Retry; left != 0 || info.Processed != tasks {
		t.Errorf("asynq holds %d tasks and has processed %d, want 0 and %d", left, info.Processed, tasks)
	}
	if seen.together != tasks || seen.alone > 1 { // the very first did not find the script loaded
		t.Errorf("%d tasks ended by themselves and %d together, of %d", seen.alone, seen.together, tasks)
	}
}

func TestABundleKeepsEachScriptsOwnAnswerAndItsCallersPatience(t *testing.T) {
	t.Parallel()
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	b := NewAckBatcher(client)
	end := redis.NewScript(
		`if redis.call("LREM", KEYS[1], 0, ARGV[1]) == 0 then return redis.error_reply("NOT FOUND") end return ARGV[1]`)
	call := func(ctx context.Context, task string) (any, error) {
		return end.Run(ctx, client, []string{Key("a", Active), Key("a", Lease), TaskKey("a", task), "more"}, task, 0).
			Result()
	}
	if err := client.LPush(t.Context(), Key("a", Active), "1", "2", "3").Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t.Context(), "1"); err != nil || got != "1" { // not running
		t.Errorf("before: %v, %v", got, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	b.mu.Lock() // accepts calls, but does not send yet
	b.open = true
	b.mu.Unlock()
	hasty, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := call(hasty, "2")
		left <- err
	}()
	for len(b.asks) == 0 {
		runtime.Gosched()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("whoever leaves hears %v", err)
	}
	running.Go(func() { b.Run(ctx) })
	var calls sync.WaitGroup
	calls.Go(func() {
		if got, err := call(t.Context(), "3"); err != nil || got != "3" {
			t.Errorf("one: %v, %v", got, err)
		}
	})
	calls.Go(func() {
		if _, err := call(t.Context(), "4"); err == nil || err.Error() != "NOT FOUND" {
			t.Errorf("another: %v", err)
		}
	})
	calls.Wait()
	if n := client.LLen(t.Context(), Key("a", Active)).Val(); n != 0 {
		t.Errorf("%d are left: what was asked for by someone who left is done all the same", n)
	}
	stop()
	running.Wait()
}
