package worker

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestTasksThatWaitAreTakenTogether(t *testing.T) {
	t.Parallel()
	const tasks = 400
	client, err := redisx.Open(testkit.Redis(t), redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	to := asynq.NewClientFromRedisClient(client)
	for i := range tasks {
		if _, err := to.EnqueueContext(t.Context(), asynq.NewTask("test", nil),
			asynq.TaskID(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	taking, seen := newPrefetch(), &trips{}
	taking.resize(general, 50)
	asynqx.OnPoll(client, (&pollSuppressor{&redisHealth{}, taking, newIdleLanes(&redisHealth{})}).completePoll)
	client.AddHook(seen)
	var ran sync.WaitGroup
	ran.Add(tasks)
	server := asynq.NewServerFromRedisClient(client,
		asynq.Config{Concurrency: 50, TaskCheckInterval: 10 * time.Millisecond, LogLevel: asynq.ErrorLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		taking.freeSlot(general)
		ran.Done()
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	ran.Wait()
	taking.drainKept()
	server.Shutdown()
	info, err := asynq.NewInspectorFromRedisClient(client).GetQueueInfo("default")
	if err != nil {
		t.Fatal(err)
	}
	if left := info.Active + info.Pending + info.Retry; left != 0 || info.Processed != tasks {
		t.Errorf("asynq holds %d tasks and has processed %d, want 0 and %d", left, info.Processed, tasks)
	}
	n := seen.n.Load()
	t.Logf("%d tasks in %d pipelines", tasks, n)
	if n < tasks/prefetchMax || n > tasks/2 {
		t.Errorf("%d tasks in %d pipelines", tasks, n)
	}
}

// trips counts the pipelines that are sent.
type trips struct{ n atomic.Int64 }

func (*trips) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmds)
	}
}

// poller is an asynq server as prefetch sees it.
type poller struct {
	slots, runs int
	lanes       []queue.Lane
	lane        queue.Lane // of the request in flight; "" for none
	asked       int
}

func TestNoTaskIsKeptWithoutASlotForIt(t *testing.T) {
	t.Parallel()
	const critical, ordinary, bulk = queue.Critical, queue.Default, queue.Bulk
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		servers := []*poller{
			{slots: 1 + random.IntN(3), lanes: []queue.Lane{critical, ordinary}},
			{slots: 1 + random.IntN(12), lanes: []queue.Lane{critical, ordinary, bulk}},
		}
		all := servers[0].slots + servers[1].slots
		taking := newPrefetch()
		taking.resize(general, all)
		for step := range 2000 {
			s := servers[random.IntN(2)]
			switch {
			case s.lane != "": // the reply, usually complete
				messages := make([]string, s.asked)
				if random.IntN(4) == 0 {
					messages = messages[:random.IntN(s.asked+1)]
				}
				taking.storeTasks(s.lane, s.asked, messages)
				if len(messages) > 0 {
					s.runs++
				}
				s.lane = ""
			case s.runs > 0 && random.IntN(3) == 0:
				s.runs--
				taking.freeSlot(reserved)
			case s.runs < s.slots:
				poll(taking, s, random)
			}
			running := servers[0].runs + servers[1].runs
			if stock := taking.buffers[general]; stock.out != running || len(stock.kept)+running > all {
				t.Fatalf("seed %d, step %d: %d kept beside %d that run, counted as %d, with %d slots", seed, step,
					len(stock.kept), running, stock.out, all)
			}
		}
	}
}

// poll polls the lanes of s in random order, as asynq does.
func poll(taking *prefetch, s *poller, random *rand.Rand) {
	for _, i := range random.Perm(len(s.lanes)) {
		_, found, wait := taking.popKept(s.lanes[i])
		if found {
			s.runs++
			return
		}
		if wait {
			continue
		}
		if n := taking.reserveTasks(s.lanes[i]); n > 0 {
			s.lane, s.asked = s.lanes[i], n
			return
		}
	}
}
