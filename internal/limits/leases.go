package limits

import (
	"context"
	_ "embed"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
)

//go:embed leases.lua
var leasesSource string

const (
	// leaseLife is how long a lease lasts without a renewal, and so how long those of a killed process do. A lease is
	// renewed after a third of it.
	leaseLife = 15 * time.Second
	leaseWait = 250 * time.Millisecond // for Redis
)

// Leases limits how many things of one subject exist at the same time, over all processes. While Redis is unavailable
// each process counts its own; once Redis is back it knows all leases after a third of leaseLife. Leases is safe for
// concurrent use.
type Leases struct {
	redis  redis.UniversalClient
	script *redis.Script
	log    *slog.Logger
	away   atomic.Bool // the last call to Redis failed
	life   time.Duration

	mu      sync.Mutex
	held    map[string]map[id.ID]bool // by subject
	stop    context.CancelFunc        // ends the renewals; nil without a lease
	renewed chan struct{}             // closed when the renewals have ended
}

// NewLeases returns Leases in Redis. With a nil client they are in the process.
func NewLeases(client redis.UniversalClient, log *slog.Logger) *Leases {
	return &Leases{
		redis: client, script: redis.NewScript(leasesSource), log: log, held: map[string]map[id.ID]bool{},
		life: leaseLife,
	}
}

// Acquire takes one of the subject's most leases and reports whether there was one. The caller must call release, which
// is never nil, at the end.
func (l *Leases) Acquire(ctx context.Context, subject string, most int) (release func(), ok bool) {
	lease := id.New()
	if !l.add(subject, lease, most) { //nolint:contextcheck // the renewals outlive ctx
		return func() {}, false
	}
	if granted, known := l.call(ctx, subject, lease, l.life, most); known && !granted {
		l.drop(subject, lease)
		return func() {}, false
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			l.drop(subject, lease)
			l.call(context.WithoutCancel(ctx), subject, lease, 0, most)
		})
	}, true
}

// add records a lease of this process, unless the process alone has most of them.
func (l *Leases) add(subject string, lease id.ID, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.held[subject]
	if len(own) >= most {
		return false
	}
	if own == nil {
		own = map[id.ID]bool{}
		l.held[subject] = own
	}
	own[lease] = true
	if l.stop == nil && l.redis != nil {
		ctx, stop := context.WithCancel(context.Background())
		l.stop, l.renewed = stop, make(chan struct{})
		go l.renew(ctx, l.renewed)
	}
	return true
}

// drop removes a lease of this process. With the last one the renewals end.
func (l *Leases) drop(subject string, lease id.ID) {
	l.mu.Lock()
	delete(l.held[subject], lease)
	if len(l.held[subject]) == 0 {
		delete(l.held, subject)
	}
	var ended chan struct{}
	if len(l.held) == 0 && l.stop != nil {
		l.stop()
		l.stop, ended = nil, l.renewed
	}
	l.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// renew renews the leases of this process until ctx ends.
func (l *Leases) renew(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(l.life / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, one := range l.all() {
			if ctx.Err() != nil {
				return
			}
			if !l.isHeld(one) {
				continue
			}
			if _, known := l.call(ctx, one.subject, one.id, l.life, math.MaxInt32); !known {
				break // Redis is away: not all of them need to wait for it
			}
			if !l.isHeld(one) { // returned meanwhile
				l.call(ctx, one.subject, one.id, 0, 0)
			}
		}
	}
}

type lease struct {
	subject string
	id      id.ID
}

func (l *Leases) all() (all []lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for subject, own := range l.held {
		for one := range own {
			all = append(all, lease{subject, one})
		}
	}
	return all
}

func (l *Leases) isHeld(one lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[one.subject][one.id]
}

// call runs the script, and reports its result and whether Redis replied.
func (l *Leases) call(ctx context.Context, subject string, lease id.ID, life time.Duration, most int) (granted,
	known bool,
) {
	if l.redis == nil {
		return true, false
	}
	asking, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	got, err := l.script.Run(asking, l.redis, []string{"leases:{" + subject + "}"}, lease.String(),
		life.Microseconds(), most).Int()
	switch {
	case err == nil && l.away.CompareAndSwap(true, false):
		l.log.InfoContext(ctx, "leases restored")
	case err != nil && ctx.Err() == nil && l.away.CompareAndSwap(false, true):
		l.log.WarnContext(ctx, "leases degraded", "error", err)
	}
	return got == 1, err == nil
}
