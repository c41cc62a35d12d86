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

// The kinds of crew: asynq servers that share a gate.
const (
	quick = "quick" // a quarter of the slots, without bulk, so that long jobs never hold them all
	rest  = "rest"
	calls = "calls" // the lane of webhooks, whose runs wait for others far more than they work
)

// Bounds of the slots for calls, which are eight for each other one: a call holds a goroutine and a socket.
const (
	callsPer   = 8
	callsLeast = 160
	callsMost  = 800
)

// MostConcurrency is the largest concurrency that makes sense in one process, and perServer what one asynq server is given:
// it takes its tasks one after the other, some 12,000 a second, and asks Redis all the time while there are none.
const (
	MostConcurrency = 1000
	perServer       = 100
	callsPerServer  = 400
)

// share is one asynq server: its crew, its part of the slots, and the lanes that it serves.
type share struct {
	crew  string
	slots int
	lanes map[string]int
}

// weights of the lanes where several have jobs.
func weights() map[string]int {
	return map[string]int{string(queue.Critical): 8, string(queue.Default): 4, string(queue.Bulk): 1}
}

// slots of each crew at a concurrency of n.
func slots(n int) map[string]int {
	out := map[string]int{rest: n, calls: min(max(callsPer*n, callsLeast), callsMost)}
	if n > 1 {
		out[quick] = max(1, n/4)
		out[rest] = n - out[quick]
	}
	return out
}

// plan spreads the slots over asynq servers.
func plan(n int) []share {
	var out []share
	for crew, left := range slots(n) {
		lanes, most := weights(), perServer
		switch crew {
		case quick:
			delete(lanes, string(queue.Bulk))
		case calls:
			lanes, most = map[string]int{string(queue.Webhooks): 1}, callsPerServer
		}
		for parts := (left + most - 1) / most; parts > 0; parts-- {
			size := left / parts
			out, left = append(out, share{crew: crew, slots: size, lanes: lanes}), left-size
		}
	}
	return out
}

// crews are the asynq servers of a worker, and those that it had before and whose runs have not ended yet.
type crews struct {
	mu          sync.Mutex
	concurrency int
	running     bool
	closed      bool
	gates       map[string]*gate
	takes       *takes
	servers     []*server
	leaving     sync.WaitGroup // servers that were replaced
	end         chan struct{}  // closed when the worker stops
}

// server is one asynq server and what it is running.
type server struct {
	*asynq.Server
	runs atomic.Int64
}

func newCrews(concurrency int, t *takes) *crews {
	c := &crews{concurrency: concurrency, takes: t, gates: map[string]*gate{}, end: make(chan struct{})}
	for _, crew := range []string{quick, rest, calls} {
		c.gates[crew] = newGate()
	}
	c.resize()
	return c
}

func (c *crews) resize() {
	sizes := slots(c.concurrency)
	for crew, g := range c.gates {
		g.resize(sizes[crew])
	}
	c.takes.resize(rest, sizes[rest]+sizes[quick])
	c.takes.resize(calls, sizes[calls])
}

// Concurrency is how many jobs run at once in this process, those of the lane of webhooks apart.
func (w *Worker) Concurrency() int {
	w.crews.mu.Lock()
	defer w.crews.mu.Unlock()
	return w.crews.concurrency
}

// SetConcurrency changes it, from 1 to 1000, without interrupting a run: asynq servers of the new size take over,
// and the old ones take nothing more and end with their runs. Where the number falls, runs in excess of it end
// before others begin. The slots for webhooks follow, within their bounds. It answers when the new ones work.
func (w *Worker) SetConcurrency(ctx context.Context, n int) error {
	if n < 1 || n > MostConcurrency {
		return fmt.Errorf("concurrency %d: want 1 to %d", n, MostConcurrency)
	}
	c := w.crews
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return errors.New("the worker has stopped")
	case n == c.concurrency:
		return nil
	case !c.running:
		c.concurrency = n
		c.resize()
		return nil
	}
	fresh, err := w.startServers(n)
	if err != nil {
		return err
	}
	old := c.servers
	before := c.concurrency
	c.servers, c.concurrency = fresh, n
	c.resize()
	w.metrics.sized(n)
	for _, s := range old {
		c.leaving.Go(func() { s.leave(c.end) })
	}
	w.log.InfoContext(ctx, "concurrency changed", "from", before, "to", n, "servers", len(fresh))
	return nil
}

// leave takes nothing more and goes when nothing runs, or when the worker stops.
func (s *server) leave(end <-chan struct{}) {
	s.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for idle := 0; idle < 4; { // what was taken just before is counted a moment later
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

// begin starts the servers of the present concurrency.
func (w *Worker) begin() (err error) {
	c := w.crews
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers, err = w.startServers(c.concurrency)
	w.metrics.sized(c.concurrency)
	c.running = err == nil
	return err
}

// startServers starts what plan says, or nothing.
func (w *Worker) startServers(n int) ([]*server, error) {
	var out []*server
	for _, p := range plan(n) {
		s := w.server(p)
		if err := s.Start(w.handler(s, p.crew)); err != nil {
			for _, started := range out {
				started.Shutdown()
			}
			return nil, fmt.Errorf("start asynq: %w", err)
		}
		out = append(out, s)
	}
	return out, nil
}

func (w *Worker) server(p share) *server {
	every := pollPending
	if p.crew == calls { // a line's next delivery comes when one has ended, and waits for the next poll
		every = pollCalls
	}
	return &server{Server: asynq.NewServerFromRedisClient(w.opt.Redis, asynq.Config{
		Concurrency: p.slots, Queues: p.lanes,
		TaskCheckInterval: every, DelayedTaskCheckInterval: pollRetry,
		ShutdownTimeout: w.opt.Grace + handOver,
		RetryDelayFunc:  retryDelay, IsFailure: isFailure,
		Logger: logger{w.log, &w.link}, LogLevel: asynq.InfoLevel,
	})}
}

// handler is what asynq calls with each delivery.
func (w *Worker) handler(s *server, crew string) asynq.Handler {
	g := w.crews.gates[crew]
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		s.runs.Add(1)
		defer s.runs.Add(-1)
		w.working.Add(1)
		defer w.working.Done()
		defer w.takes.ended(crew)
		g.enter()
		defer g.leave()
		return w.underItsName(ctx, t, w.deliver(ctx, t))
	})
}

// shutdown ends all servers side by side.
func (w *Worker) shutdown(ctx context.Context) {
	c := w.crews
	c.mu.Lock()
	servers := c.servers
	c.closed, c.running = true, false
	close(c.end)
	c.mu.Unlock()
	w.takes.end()
	cancel := time.AfterFunc(w.opt.Grace, func() { w.runs.cancel(errShutdown) })
	defer cancel.Stop()
	var ending sync.WaitGroup
	for _, s := range servers {
		ending.Go(s.Shutdown)
	}
	ending.Wait()
	c.leaving.Wait()
	// asynq gave its slots back, but a run that does not listen may still be there.
	over := make(chan struct{})
	go func() { w.working.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(handOver):
		w.log.WarnContext(ctx, "runs did not end with their context: their leases will lapse", "runs", w.runs.count())
	}
}

// depthOf is how many tasks of a lane may wait in asynq before it is full: some for each slot of this process.
func (w *Worker) depthOf(lane queue.Lane) int {
	n := w.Concurrency()
	if lane == queue.Webhooks {
		n = slots(n)[calls]
	}
	return depth * n
}
