package auth

import (
	"crypto/sha256"
	"maps"
	"sync"
)

// digest is the SHA-256 of a credential. It is stored and compared instead of the credential.
type digest [sha256.Size]byte

// digestOf hashes a short credential without a heap allocation.
func digestOf(credential string) digest {
	var buf [maxBearer]byte
	if len(credential) <= len(buf) {
		return sha256.Sum256(buf[:copy(buf[:], credential)])
	}
	return sha256.Sum256([]byte(credential))
}

// generations is a bounded in-process map with two halves. When the young half is full, it becomes the old half and the
// previous old half is dropped. An entry that is read from the old half moves to the young one, so entries in use stay.
type generations[K comparable, V any] struct {
	half  int // entries per half
	mu    sync.RWMutex
	young map[K]V
	old   map[K]V
}

func (g *generations[K, V]) get(k K) (V, bool) {
	g.mu.RLock()
	v, ok := g.young[k]
	if ok {
		g.mu.RUnlock()
		return v, true
	}
	v, ok = g.old[k]
	g.mu.RUnlock()
	if ok {
		g.put(k, v)
	}
	return v, ok
}

func (g *generations[K, V]) put(k K, v V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.store(k, v)
}

// getOr returns the value of k. If there is none, it stores and returns the result of fresh.
func (g *generations[K, V]) getOr(k K, fresh func() V) V {
	if v, ok := g.get(k); ok {
		return v
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v, ok := g.young[k]; ok {
		return v
	}
	v := fresh()
	g.store(k, v)
	return v
}

func (g *generations[K, V]) drop(k K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.young, k)
	delete(g.old, k)
}

// dropIf deletes every entry for which drop reports true. It visits all entries, so it is for rare events only.
func (g *generations[K, V]) dropIf(drop func(K) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	forget := func(k K, _ V) bool { return drop(k) }
	maps.DeleteFunc(g.young, forget)
	maps.DeleteFunc(g.old, forget)
}

func (g *generations[K, V]) store(k K, v V) {
	if g.young == nil || len(g.young) >= g.half {
		g.young, g.old = make(map[K]V), g.young
	}
	g.young[k] = v
}
