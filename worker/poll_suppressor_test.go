package worker_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/worker"
)

// dials counts a client's attempts to open a connection.
type dials struct{ n atomic.Int64 }

func TestAWorkerDialsLittleWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	h := open(t)
	client := h.client(redisx.Worker)
	counts := &dials{}
	client.AddHook(counts)
	h.workOn(client, worker.Options{}, mark.HandleTx(markWork))
	h.add(adding(mark, none{}))
	h.until(giveUpAfter, "it works", func() bool { return h.doneRows() == 1 })
	h.redis.Stop()
	<-time.After(2 * time.Second)
	before := counts.n.Load()
	<-time.After(3 * time.Second)
	if n := counts.n.Load() - before; n > 600 {
		t.Errorf("%d dials in 3 s", n)
	}
	h.redis.Start()
	h.add(adding(mark, none{}))
	took := h.until(giveUpAfter, "it works again", func() bool { return h.doneRows() == 2 })
	t.Logf("a job ran %s after Redis's return", took)
}

func (d *dials) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		d.n.Add(1)
		return next(ctx, network, addr)
	}
}
func (*dials) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (*dials) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Counts the requests of an idle worker to Redis, for all lanes and servers together.
func TestAnIdleWorkerAsksRedisLittle(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.add(adding(mark, none{}))
	h.until(giveUpAfter, "it works", func() bool { return h.doneRows() == 1 })
	<-time.After(1500 * time.Millisecond)
	before, began := h.scripts(), time.Now()
	<-time.After(3 * time.Second)
	perSecond := float64(h.scripts()-before) / time.Since(began).Seconds()
	t.Logf("%.0f scripts a second", perSecond)
	if perSecond > 60 {
		t.Errorf("%.0f scripts a second", perSecond)
	}
}

// scripts returns how many scripts Redis has run.
func (h *house) scripts() (n int) {
	h.t.Helper()
	info, err := h.link.Info(h.t.Context(), "commandstats").Result()
	if err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		var calls int
		if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%d", &calls); err == nil {
			n += calls
		}
	}
	return n
}
