package limits

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	boats    = 1    // pipelines on their way at once: the next is filled while it travels
	boatLoad = 128  // calls in one pipeline
	quay     = 4096 // calls that may wait; one more is decided in the process
)

// call is one question to Redis, on its way.
type call struct {
	subject string
	key     string
	args    []any
	charges bool        // it counts what the process admitted alone as well
	left    atomic.Bool // the asker has given up: what was not sent need not be
	alone   int64       // when the process then admitted the request by itself; under the lock of the subject's state
	reply   chan reply  // holds one
}

type reply struct {
	values []int64
	err    error
}

// decision is what the script said.
func (r reply) decision(rule Rule) Decision {
	v := r.values
	return Decision{Rule: rule, Allowed: v[0] == 1, Remaining: v[1], Grows: us(v[3]), ByWindow: v[4] == 1}
}

// ferry takes calls to Redis: those that come while a pipeline is on its way share the next one. Under load
// that halves what a decision costs both sides, which is mostly system calls; a single call waits for nobody.
type ferry struct {
	redis   redis.UniversalClient
	script  *redis.Script
	breaker *breaker
	arrived func(*call, reply)
	calls   chan *call
	afloat  atomic.Int32 // pipelines on their way
	stop    chan struct{}
	all     sync.WaitGroup
}

// newFerry returns a ferry that calls arrived with what became of each call.
func newFerry(c redis.UniversalClient, b *breaker, arrived func(*call, reply)) *ferry {
	f := &ferry{
		redis: c, script: redis.NewScript(source), breaker: b, arrived: arrived, calls: make(chan *call, quay), stop: make(chan struct{}),
	}
	for range boats {
		f.all.Go(f.sail)
	}
	return f
}

// board takes a call along; false where too many wait.
func (f *ferry) board(c *call) bool {
	select {
	case f.calls <- c:
		return true
	default:
		return false
	}
}

// row takes the call across at once, in the caller's own goroutine and for no longer than wait; false where
// others are on their way, whom it had better join. It spares a lone caller two changes of goroutine.
func (f *ferry) row(c *call, wait time.Duration) bool {
	if !f.afloat.CompareAndSwap(0, 1) {
		return false
	}
	defer f.afloat.Add(-1)
	f.cross([]*call{c}, wait)
	return true
}

// close waits for the pipelines on their way. Nothing may board after it.
func (f *ferry) close() {
	close(f.stop)
	f.all.Wait()
}

func (f *ferry) sail() {
	load := make([]*call, 0, boatLoad)
	for {
		load = load[:0]
		select {
		case c := <-f.calls:
			load = append(load, c)
		case <-f.stop:
			return
		}
		for len(load) < cap(load) && len(f.calls) > 0 {
			select {
			case c := <-f.calls:
				load = append(load, c)
			default: // the other boat was quicker
			}
		}
		f.afloat.Add(1)
		f.cross(load, longest)
		f.afloat.Add(-1)
	}
}

// cross runs the script once for each call whose asker still waits, and gives up after the given time.
func (f *ferry) cross(load []*call, wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	waiting := load[:0]
	for _, c := range load {
		if c.left.Load() {
			f.arrived(c, reply{err: errLeft})
			continue
		}
		waiting = append(waiting, c)
	}
	for len(waiting) > 0 {
		replies := f.run(ctx, waiting)
		if ctx.Err() == nil && neverSent(replies[0].err) && f.breaker.heard(patience) {
			continue // what was surely never sent may be sent again while others get through
		}
		for i, c := range waiting {
			c.reply <- replies[i]
			f.arrived(c, replies[i])
		}
		return
	}
}

// run sends the calls in one pipeline, those that Redis did not know the script of with its text again.
func (f *ferry) run(ctx context.Context, calls []*call) []reply {
	replies := f.send(ctx, calls, f.script.EvalSha)
	var unknown []*call
	var at []int
	for i, r := range replies {
		if redis.HasErrorPrefix(r.err, "NOSCRIPT") {
			unknown, at = append(unknown, calls[i]), append(at, i)
		}
	}
	if len(unknown) > 0 {
		for i, r := range f.send(ctx, unknown, f.script.Eval) {
			replies[at[i]] = r
		}
	}
	return replies
}

type evaluate func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

func (f *ferry) send(ctx context.Context, calls []*call, eval evaluate) []reply {
	cmds := make([]*redis.Cmd, len(calls))
	if len(calls) == 1 {
		cmds[0] = eval(ctx, f.redis, []string{calls[0].key}, calls[0].args...)
	} else {
		pipe := f.redis.Pipeline()
		for i, c := range calls {
			cmds[i] = eval(ctx, pipe, []string{c.key}, c.args...)
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
	}
	replies := make([]reply, len(cmds))
	for i, cmd := range cmds {
		got, err := cmd.Int64Slice()
		if err == nil && len(got) != 5 {
			err = fmt.Errorf("limiter script answered %d values", len(got))
		}
		if err == nil {
			f.breaker.succeeded()
		}
		replies[i] = reply{got, err}
	}
	return replies
}

// neverSent tells whether a command did not get as far as a connection, for want of time.
func neverSent(err error) bool {
	if errors.Is(err, redis.ErrPoolTimeout) {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && op.Timeout()
}
