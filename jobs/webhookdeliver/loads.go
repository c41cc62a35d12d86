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

// loads lets runs that begin together read their deliveries together. Nobody waits for company: who comes while no
// read is on its way goes at once, and takes along whoever came while one was. The first of those that came later
// reads next, so that no run works for others for longer than its own delivery takes.
type loads struct {
	mu      sync.Mutex
	busy    bool
	waiting []*load
}

// load is a run that waits for its delivery.
type load struct {
	webhooks.Load
	turn   chan bool // holds one: true to read, false when it has been read
	failed bool      // the shared read was: it may be another's fault
}

// get reads one delivery; nil where it is not there.
func (l *loads) get(ctx context.Context, hooks *webhooks.Service, db *postgres.DB, org, delivery id.ID) (*webhooks.Parcel, error) {
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
	var p *webhooks.Parcel
	err := db.View(ctx, org, func(tx *postgres.Tx) (err error) {
		p, err = hooks.Load(ctx, tx, delivery)
		return err
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // there is nothing to deliver
	}
	return p, err
}

// read reads for those that wait, the caller first among them, and hands over to the next.
func (l *loads) read(ctx context.Context, hooks *webhooks.Service, db *postgres.DB) {
	l.mu.Lock()
	now := l.waiting[:min(len(l.waiting), loadMost)]
	l.waiting = l.waiting[len(now):]
	l.mu.Unlock()
	failed := true
	defer func() { // also after a panic, which is this run's own
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
