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
	first, open            chan struct{} // if set, the first pipeline closes first, and waits for open
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
		held := s.first != nil && s.trips == 1
		s.mu.Unlock()
		if held {
			close(s.first)
			<-s.open
		}
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
	seen := &scripts{is: acknowledges}
	BatchAcks(client)
	client.AddHook(seen)
	queue := asynq.NewClientFromRedisClient(client)
	for i := range tasks {
		_, err := queue.EnqueueContext(t.Context(), asynq.NewTask("test", nil), asynq.TaskID(strconv.Itoa(i)))
		if err != nil {
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

func TestABatchKeepsEachScriptsOwnReplyAndItsCallersPatience(t *testing.T) {
	t.Parallel()
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	BatchAcks(client)
	gate := &scripts{is: acknowledges, first: make(chan struct{}), open: make(chan struct{})}
	end := redis.NewScript(
		`if redis.call("LREM", KEYS[1], 0, ARGV[1]) == 0 then return redis.error_reply("NOT FOUND") end return ARGV[1]`)
	call := func(ctx context.Context, task string) (any, error) {
		return end.Run(ctx, client, []string{Key("a", Active), Key("a", Lease), TaskKey("a", task), "more"}, task, 0).
			Result()
	}
	if err := client.LPush(t.Context(), Key("a", Active), "0", "1", "2", "3").Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t.Context(), "0"); err != nil || got != "0" { // loads the script
		t.Errorf("without a batch: %v, %v", got, err)
	}
	client.AddHook(gate)
	type result struct {
		reply any
		err   error
	}
	results := map[string]chan result{}
	hasty, leave := context.WithCancel(t.Context())
	for _, task := range []string{"1", "2", "3", "4"} {
		ctx, ch := t.Context(), make(chan result, 1)
		if results[task] = ch; task == "2" {
			ctx = hasty
		}
		go func() {
			reply, err := call(ctx, task)
			ch <- result{reply, err}
		}()
		if task == "1" {
			<-gate.first // the others share the next pipeline
		}
	}
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		runtime.Gosched() // lets them arrive
	}
	leave()
	if got := <-results["2"]; !errors.Is(got.err, context.Canceled) {
		t.Errorf("a caller that left got %v", got.err)
	}
	close(gate.open)
	for _, task := range []string{"1", "3"} {
		if got := <-results[task]; got.err != nil || got.reply != task {
			t.Errorf("%s: %v, %v", task, got.reply, got.err)
		}
	}
	if got := <-results["4"]; got.err == nil || got.err.Error() != "NOT FOUND" {
		t.Errorf("an unknown task: %v", got.err)
	}
	if n := client.LLen(t.Context(), Key("a", Active)).Val(); n != 0 {
		t.Errorf("%d are left: a script is sent although its caller left", n)
	}
}
