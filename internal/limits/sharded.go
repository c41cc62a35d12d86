package limits

import (
	"hash/maphash"
	"sync"
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
