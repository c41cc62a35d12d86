// Package bounded has a map of bounded size for values that can be read again from where they came.
package bounded

import (
	"maps"
	"sync"
)

// Map is a bounded in-process map with two halves. When the young half is full, it becomes the old half and the
// previous old half is dropped. An entry that is read from the old half moves to the young one, so entries in use stay.
// It is safe for concurrent use; Half must be set before.
type Map[K comparable, V any] struct {
	Half  int // entries per half
	mu    sync.RWMutex
	young map[K]V
	old   map[K]V
}

// Get returns the value of k, and whether there is one.
func (g *Map[K, V]) Get(k K) (V, bool) {
	g.mu.RLock()
	v, ok := g.young[k]
	if ok {
		g.mu.RUnlock()
		return v, true
	}
	v, ok = g.old[k]
	g.mu.RUnlock()
	if ok {
		g.Put(k, v)
	}
	return v, ok
}

// Put stores the value of k.
func (g *Map[K, V]) Put(k K, v V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.store(k, v)
}

// GetOr returns the value of k. If there is none, it stores and returns the result of fresh.
func (g *Map[K, V]) GetOr(k K, fresh func() V) V {
	if v, ok := g.Get(k); ok {
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

// Drop deletes k.
func (g *Map[K, V]) Drop(k K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.young, k)
	delete(g.old, k)
}

// DropIf deletes every entry for which drop reports true. It visits all entries, so it is for rare events only.
func (g *Map[K, V]) DropIf(drop func(K) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	forget := func(k K, _ V) bool { return drop(k) }
	maps.DeleteFunc(g.young, forget)
	maps.DeleteFunc(g.old, forget)
}

func (g *Map[K, V]) store(k K, v V) {
	if g.young == nil || len(g.young) >= g.Half {
		g.young, g.old = make(map[K]V), g.young
	}
	g.young[k] = v
}
