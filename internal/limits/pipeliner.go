package limits

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/batch"
)

const (
	boatLoad = 128  // maximum calls in one pipeline
	quay     = 4096 // maximum waiting calls; beyond it the process decides
)

// call is one call of the script.
type call struct {
	subject string
	key     string
	args    []any
	charges bool        // also charges what the process admitted alone
	left    atomic.Bool // the caller gave up: if unsent, it need not be sent
	alone   int64       // when the process admitted the request alone; guarded by the subject state's lock
	reply   chan reply  // capacity 1
}

type reply struct {
	values []int64
	err    error
}

// decision returns the script's decision.
func (r reply) decision(rule Rule) Decision {
	v := r.values
	return Decision{Rule: rule, Allowed: v[0] == 1, Remaining: v[1], Grows: us(v[3]), ByWindow: v[4] == 1}
}

// pipeliner sends calls to Redis. Calls that arrive while a pipeline is in flight share the next one. Under load that
// halves the cost of a decision on both sides, which is mostly system calls. A single call does not wait.
type pipeliner struct {
	redis   redis.UniversalClient
	script  *redis.Script
	breaker *breaker
	arrived func(*call, reply)
	calls   *batch.Batcher[*call]
}

// newPipeliner returns a pipeliner that calls arrived with the outcome of each call.
func newPipeliner(c redis.UniversalClient, b *breaker, arrived func(*call, reply)) *pipeliner {
	f := &pipeliner{redis: c, script: redis.NewScript(source), breaker: b, arrived: arrived}
	f.calls = batch.New(batch.Options[*call]{Most: boatLoad, Queued: quay, Timeout: longest, Send: f.roundTrip})
	return f
}

// enqueue queues a call. It reports false if the queue is full.
func (p *pipeliner) enqueue(c *call) bool { return p.calls.Add(c) }

// tryDirect sends the call immediately, in the caller's goroutine and for at most wait. It reports false if a pipeline
// is in flight; the caller should then enqueue the call.
func (p *pipeliner) tryDirect(c *call, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	sent, _ := p.calls.TryAlone(ctx, c)
	return sent
}

// close waits for the pipelines in flight.
func (p *pipeliner) close() { p.calls.Close(context.Background()) }

// roundTrip runs the script once for each call with a waiting caller.
func (p *pipeliner) roundTrip(ctx context.Context, load []*call) error {
	waiting := load[:0]
	for _, c := range load {
		if c.left.Load() {
			p.arrived(c, reply{err: errLeft})
			continue
		}
		waiting = append(waiting, c)
	}
	for len(waiting) > 0 {
		replies := p.run(ctx, waiting)
		if ctx.Err() == nil && neverSent(replies[0].err) && p.breaker.heard(patience) {
			continue // calls that were never sent are retried while others get through
		}
		for i, c := range waiting {
			c.reply <- replies[i]
			p.arrived(c, replies[i])
		}
		break
	}
	return nil
}

// run sends the calls in one pipeline, and sends those that failed because Redis did not have the script again with its
// text.
func (p *pipeliner) run(ctx context.Context, calls []*call) []reply {
	replies := p.send(ctx, calls, p.script.EvalSha)
	var unknown []*call
	var at []int
	for i, r := range replies {
		if redis.HasErrorPrefix(r.err, "NOSCRIPT") {
			unknown, at = append(unknown, calls[i]), append(at, i)
		}
	}
	if len(unknown) > 0 {
		for i, r := range p.send(ctx, unknown, p.script.Eval) {
			replies[at[i]] = r
		}
	}
	return replies
}

type evaluate func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

func (p *pipeliner) send(ctx context.Context, calls []*call, eval evaluate) []reply {
	cmds := make([]*redis.Cmd, len(calls))
	if len(calls) == 1 {
		cmds[0] = eval(ctx, p.redis, []string{calls[0].key}, calls[0].args...)
	} else {
		pipe := p.redis.Pipeline()
		for i, c := range calls {
			cmds[i] = eval(ctx, pipe, []string{c.key}, c.args...)
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
	}
	replies := make([]reply, len(cmds))
	for i, cmd := range cmds {
		got, err := cmd.Int64Slice()
		if err == nil && len(got) != 5 {
			err = fmt.Errorf("limiter script returned %d values", len(got))
		}
		if err == nil {
			p.breaker.succeeded()
		}
		replies[i] = reply{got, err}
	}
	return replies
}

// neverSent reports whether a command timed out before it got a connection.
func neverSent(err error) bool {
	if errors.Is(err, redis.ErrPoolTimeout) {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && op.Timeout()
}
