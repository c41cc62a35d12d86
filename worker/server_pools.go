package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// The pools. A pool is asynq servers that share a semaphore.
const (
	reserved    = "quick" // a quarter of the slots, without bulk, so that long jobs never hold all
	general     = "rest"
	webhookPool = "calls"  // the webhooks lane: its runs mostly wait for receivers
	remotePool  = "remote" // the remote lane: its runs mostly wait for servers that customers name
)

// Limits of the webhook slots: eight per other slot. Each call holds a goroutine and a socket. The remote slots are
// half as many.
const (
	webhookSlotsPer = 8
	webhookSlotsMin = 160
	webhookSlotsMax = 800
	remotePart      = 2
)

// MaxConcurrency is the largest useful concurrency of one process. perServer is the number of slots of one asynq
// server. A server takes its tasks one after another, about 12,000 a second, and polls Redis all the time while there
// are none.
const (
	MaxConcurrency = 1000
	perServer      = 100
)

// poolShare is one asynq server: its pool, its share of the slots, and its lanes.
type poolShare struct {
	pool  string
	slots int
	lanes map[string]int
}

// laneWeights returns the lanes' weights, which apply when several lanes have jobs.
func laneWeights() map[string]int {
	return map[string]int{string(queue.Critical): 8, string(queue.Default): 4, string(queue.Bulk): 1}
}

// poolSlots returns the slots of each pool at a concurrency of n.
func poolSlots(n int) map[string]int {
	calls := min(max(webhookSlotsPer*n, webhookSlotsMin), webhookSlotsMax)
	out := map[string]int{general: n, webhookPool: calls, remotePool: calls / remotePart}
	if n > 1 {
		out[reserved] = max(1, n/4)
		out[general] = n - out[reserved]
	}
	return out
}

// planServers distributes the slots over asynq servers.
func planServers(n int) []poolShare {
	var out []poolShare
	for pool, left := range poolSlots(n) {
		lanes := laneWeights()
		most := perServer
		switch pool {
		case reserved:
			delete(lanes, string(queue.Bulk))
		case webhookPool:
			lanes, most = map[string]int{string(queue.Webhooks): 1}, webhookSlotsMax // one server polls
		case remotePool:
			lanes = map[string]int{string(queue.Remote): 1}
			most = webhookSlotsMax
		}
		for parts := (left + most - 1) / most; parts > 0; parts-- {
			size := left / parts
			out = append(out, poolShare{pool: pool, slots: size, lanes: lanes})
			left -= size
		}
	}

	return out
}

// serverPools is the asynq servers of a worker, including replaced servers with runs in progress.
type serverPools struct {
	mu          sync.Mutex
	concurrency int
	running     bool
	closed      bool
	semaphores  map[string]*resizableSemaphore
	calls       map[string]*calls // by pool; reserved and general share theirs
	prefetch    *prefetch
	servers     []*server
	leaving     sync.WaitGroup // replaced servers
	end         chan struct{}  // closed when the worker stops
}

// server is one asynq server and its number of runs.
type server struct {
	*asynq.Server
	runs atomic.Int64
}

func newServerPools(concurrency int, f *prefetch) *serverPools {
	p := &serverPools{
		concurrency: concurrency, prefetch: f, semaphores: map[string]*resizableSemaphore{},
		calls: map[string]*calls{general: newCalls(), webhookPool: newCalls(), remotePool: newCalls()},
		end:   make(chan struct{}),
	}
	for _, pool := range []string{reserved, general, webhookPool, remotePool} {
		p.semaphores[pool] = newResizableSemaphore()
	}
	p.resize()
	return p
}

func (p *serverPools) resize() {
	sizes := poolSlots(p.concurrency)
	for pool, s := range p.semaphores {
		s.resize(sizes[pool])
	}
	p.prefetch.resize(general, sizes[general]+sizes[reserved])
	p.prefetch.resize(webhookPool, sizes[webhookPool])
	p.prefetch.resize(remotePool, sizes[remotePool])
	for pool, limits := range callLimitsOf(p.concurrency) {
		p.calls[pool].resize(limits)
	}
}

// callsIn returns the calls that the runs of a pool make.
func (p *serverPools) callsIn(pool string) *calls { return p.calls[bufferPool(pool)] }

// Concurrency returns how many jobs run at once in this process, not counting the lanes webhooks and remote.
func (w *Worker) Concurrency() int {
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	return w.pools.concurrency
}

// SetConcurrency changes the concurrency, from 1 to 1000, without interrupting a run. New asynq servers take over; the
// old ones take no more tasks and stop when their runs have ended. If the number falls, excess runs end before others
// begin. The webhook and remote slots follow within their limits. SetConcurrency returns when the new servers work.
func (w *Worker) SetConcurrency(ctx context.Context, n int) error {
	if n < 1 || n > MaxConcurrency {
		return fmt.Errorf("concurrency %d: want 1 to %d", n, MaxConcurrency)
	}

	p := w.pools
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return errors.New("the worker has stopped")
	case n == p.concurrency:
		return nil
	case !p.running:
		p.concurrency = n
		p.resize()
		return nil
	}

	fresh, err := w.startServers(n)
	if err != nil {
		return err
	}

	old := p.servers
	before := p.concurrency
	p.servers = fresh
	p.concurrency = n
	p.resize()
	w.metrics.setConcurrency(n)
	w.idle.wakePolls()
	for _, s := range old {
		p.leaving.Go(func() { s.shutdownWhenIdle(p.end) })
	}

	w.log.InfoContext(ctx, "concurrency changed", "from", before, "to", n, "servers", len(fresh))
	return nil
}

// shutdownWhenIdle stops taking tasks, and shuts the server down when its runs have ended or the worker stops.
func (s *server) shutdownWhenIdle(end <-chan struct{}) {
	s.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for idle := 0; idle < 4; { // tasks taken last are counted a moment later
		if idle++; s.runs.Load() > 0 {
			idle = 0
		}
		select {
		case <-tick.C:
		case <-end:
			idle = 4
		}
	}
	s.Shutdown()
}

// startPools starts the servers for the current concurrency.
func (w *Worker) startPools() (err error) {
	p := w.pools
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers, err = w.startServers(p.concurrency)
	w.metrics.setConcurrency(p.concurrency)
	p.running = err == nil
	return err
}

// startServers starts the servers of planServers. On an error it starts none.
func (w *Worker) startServers(n int) ([]*server, error) {
	var out []*server
	for _, p := range planServers(n) {
		s := w.newServer(p)
		if err := s.Start(w.taskHandler(s, p.pool)); err != nil {
			for _, started := range out {
				started.Shutdown()
			}
			return nil, fmt.Errorf("start asynq: %w", err)
		}
		out = append(out, s)
	}
	return out, nil
}

func (w *Worker) newServer(p poolShare) *server {
	every := pollPending
	if p.pool == webhookPool { // a key's next delivery waits for the next poll
		every = pollCalls
	}
	return &server{Server: asynq.NewServerFromRedisClient(w.opt.Redis, asynq.Config{
		Concurrency: p.slots, Queues: p.lanes,
		TaskCheckInterval: every, DelayedTaskCheckInterval: pollRetry, JanitorInterval: janitor,
		ShutdownTimeout: w.opt.Grace + handOver,
		RetryDelayFunc:  retryDelay, IsFailure: isFailure,
		Logger: logger{w.log, &w.health}, LogLevel: asynq.InfoLevel,
	})}
}

// taskHandler returns the handler that asynq calls with each delivery.
func (w *Worker) taskHandler(s *server, pool string) asynq.Handler {
	running := w.pools.semaphores[pool]

	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		s.runs.Add(1)
		defer s.runs.Add(-1)
		w.working.Add(1)
		defer w.working.Done()
		defer w.prefetch.freeSlot(pool)

		running.acquire()
		defer running.release()

		return w.dropStaleTask(ctx, t, w.deliverTask(ctx, t, w.pools.callsIn(pool)))
	})
}

// shutdownServers stops all servers concurrently.
func (w *Worker) shutdownServers(ctx context.Context) {
	p := w.pools
	p.mu.Lock()
	servers := p.servers
	p.closed = true
	p.running = false
	close(p.end)
	p.mu.Unlock()
	w.prefetch.drainKept()
	cancel := time.AfterFunc(w.opt.Grace, func() { w.runs.cancelAll(errShutdown) })
	defer cancel.Stop()
	var ending sync.WaitGroup
	for _, s := range servers {
		ending.Go(s.Shutdown)
	}

	ending.Wait()
	p.leaving.Wait()
	// asynq has freed its slots, but a run that ignores its context may still be going.
	over := make(chan struct{})
	go func() {
		w.working.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(handOver):
		w.log.WarnContext(ctx, "runs ignored their cancelled context: their leases will expire", "runs", w.runs.count())
	}
}

// depthOf returns how many tasks of a lane may be pending in asynq: depth per slot of this process.
func (w *Worker) depthOf(lane queue.Lane) int {
	n := w.Concurrency()
	switch lane {
	case queue.Webhooks:
		n = poolSlots(n)[webhookPool]
	case queue.Remote:
		n = poolSlots(n)[remotePool]
	case queue.Critical, queue.Default, queue.Bulk:
	}
	return depth * n
}
