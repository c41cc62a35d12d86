package limits

import (
	"hash/maphash"
	"sync"
)

// shards is the number of locks, so that requests of different subjects rarely contend.
const shards = 64

// sharded is a map by subject with many locks.
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

// with calls fn under the lock of the subject's shard.
func (s *sharded[V]) with(subject string, fn func(m map[string]V)) {
	shard := &s.of[maphash.String(s.seed, subject)%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	fn(shard.m)
}

// crowd is the number of subjects in a shard above which expired ones are removed.
const crowd = 1024
