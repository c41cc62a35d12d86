package webhookdeliver

import (
	"context"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Limits of a shared read.
const (
	loadMost = 64 // deliveries
	loadTime = 5 * time.Second
)

// loads lets runs that begin together read their deliveries in one query. A run never waits for others to join: if no
// read is in flight it starts at once, and its read includes all runs that arrived during the previous one. The first
// of the later arrivals makes the next read, so no run reads for others for longer than its own read takes.
type loads struct {
	mu      sync.Mutex
	busy    bool
	waiting []*load
}

// load is a run waiting for its delivery.
type load struct {
	webhooks.Load
	turn   chan bool // capacity 1: true means read now, false means already read
	failed bool      // the shared read failed, maybe because of another delivery
}

// get reads one delivery. It returns nil if the delivery does not exist.
func (l *loads) get(ctx context.Context, hooks *webhooks.Service, db *postgres.DB,
	org, delivery id.ID,
) (*webhooks.DeliveryRequest, error) {
	mine := &load{Load: webhooks.Load{Org: org, Delivery: delivery}, turn: make(chan bool, 1)}
	l.mu.Lock()
	l.waiting = append(l.waiting, mine)
	if !l.busy {
		l.busy = true
		mine.turn <- true
	}
	l.mu.Unlock()
	if <-mine.turn {
		l.read(ctx, hooks, db)
	}
	if !mine.failed {
		return mine.Parcel, mine.Err
	}
	var p *webhooks.DeliveryRequest
	err := db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		p, err = hooks.Load(ctx, tx, delivery)
		return err
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // there is nothing to deliver
	}
	return p, err
}

// read reads the waiting deliveries, the caller's first, and then starts the next reader.
func (l *loads) read(ctx context.Context, hooks *webhooks.Service, db *postgres.DB) {
	l.mu.Lock()
	now := l.waiting[:min(len(l.waiting), loadMost)]
	l.waiting = l.waiting[len(now):]
	l.mu.Unlock()
	failed := true
	defer func() { // also after a panic, which only fails this run
		l.mu.Lock()
		if l.busy = len(l.waiting) > 0; l.busy {
			l.waiting[0].turn <- true
		}
		l.mu.Unlock()
		now[0].failed = failed
		for _, one := range now[1:] {
			one.failed = failed
			one.turn <- false
		}
	}()
	all := make([]*webhooks.Load, len(now))
	for i, one := range now {
		all[i] = &one.Load
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime)
	defer cancel()
	failed = hooks.LoadAll(ctx, db, all) != nil
}
