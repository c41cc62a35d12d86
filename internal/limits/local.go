package limits

import (
	"hash/maphash"
	"sync"
	"time"
)

// shards keep requests of different subjects from waiting for one lock.
const shards = 64

// sharded is a map by subject of many locks.
type sharded[V any] struct {
	seed maphash.Seed
	of   [shards]struct {
		mu sync.Mutex
		m  map[string]V
	}
}

func newSharded[V any]() *sharded[V] {
	s := &sharded[V]{seed: maphash.MakeSeed()}
	for i := range s.of {
		s.of[i].m = map[string]V{}
	}
	return s
}

// with runs fn under the lock of the subject's shard.
func (s *sharded[V]) with(subject string, fn func(m map[string]V)) {
	shard := &s.of[maphash.String(s.seed, subject)%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	fn(shard.m)
}

// crowd is how many subjects of a shard are kept before the ones that say nothing any more are looked for.
const crowd = 1024

// local is the rule in this process, for when Redis is away. It is limiter.lua in Go.
type local struct {
	began    time.Time // its own clock runs from here, so it never goes back
	subjects *sharded[*state]
}

// state is the list that limiter.lua keeps under a subject's key.
type state struct {
	log []int64 // admitted moments in us, oldest first
	tat int64
}

func newLocal() *local { return &local{began: time.Now(), subjects: newSharded[*state]()} }

func (l *local) take(subject string, r Rule, now time.Time) (d Decision) {
	l.with(subject, now, func(s *state, us int64) { d = s.take(r, us) })
	return d
}

// observe notes that Redis has room for no more than remaining, so that this process goes on from there when
// Redis falls silent.
func (l *local) observe(subject string, r Rule, now time.Time, remaining int64) {
	l.with(subject, now, func(s *state, us int64) {
		for room := s.room(r, us); room > remaining; room-- {
			s.tat = max(s.tat, us) + r.step()
			s.log = append(s.log, us)
		}
	})
}

func (l *local) with(subject string, now time.Time, fn func(s *state, us int64)) {
	us := now.Sub(l.began).Microseconds()
	l.subjects.with(subject, func(m map[string]*state) {
		s := m[subject]
		if s == nil {
			if len(m) >= crowd {
				forget(m, us)
			}
			s = &state{}
			m[subject] = s
		}
		fn(s, us)
	})
}

// forget drops the subjects whose bucket is full and whose window is empty.
func forget(m map[string]*state, now int64) {
	for k, s := range m {
		if s.tat <= now && (len(s.log) == 0 || s.log[len(s.log)-1] <= now-window.Microseconds()) {
			delete(m, k)
		}
	}
}

// trim drops what has left the window.
func (s *state) trim(now int64) {
	gone := 0
	for gone < len(s.log) && s.log[gone] <= now-window.Microseconds() {
		gone++
	}
	s.log = s.log[gone:]
}

// room is how many requests would be admitted at this moment.
func (s *state) room(r Rule, now int64) int64 {
	s.trim(now)
	return max(0, min(r.Burst-int64(len(s.log)), (r.Burst*r.step()-max(0, s.tat-now))/r.step()))
}

func (s *state) take(r Rule, now int64) Decision {
	step, size := r.step(), window.Microseconds()
	s.trim(now)
	tat, n := max(s.tat, now), int64(len(s.log))
	waitBucket, waitWindow := tat+step-r.Burst*step-now, int64(0)
	if n >= r.Burst {
		waitWindow = s.log[n-r.Burst] + size - now
	}
	if waitBucket > 0 || waitWindow > 0 {
		return Decision{Rule: r, Grows: us(max(waitBucket, waitWindow)), ByWindow: waitWindow >= waitBucket}
	}
	s.tat = tat + step
	s.log = append(s.log, now)
	d := Decision{Rule: r, Allowed: true, Remaining: r.Burst - n - 1, Grows: us(s.log[0] + size - now), ByWindow: true}
	used := s.tat - now
	inBucket, grows := (r.Burst*step-used)/step, used%step
	if grows == 0 {
		grows = step
	}
	if inBucket < d.Remaining || inBucket == d.Remaining && us(grows) > d.Grows {
		d.Remaining, d.Grows, d.ByWindow = inBucket, us(grows), false
	}
	return d
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
