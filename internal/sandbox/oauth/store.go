package oauth

import (
	"context"
	"slices"
	"sync"
)

// Store keeps the sandbox's state. There are two implementations: Memory, for tests with many sandboxes, and Postgres.
type Store interface {
	// Update runs fn exclusively: no other Update of the same state, in any process, runs at the same time. If fn
	// fails, nothing changes.
	Update(ctx context.Context, fn func(Tx) error) error
}

// Tx reads and writes rows within Update. A body is JSON.
type Tx interface {
	// Get returns nil if there is no such row.
	Get(ctx context.Context, kind, id string) ([]byte, error)
	Put(ctx context.Context, kind, id string, body []byte) error
	Delete(ctx context.Context, kind, id string) error
	// List returns the newest rows of a kind; limit 0 means all.
	List(ctx context.Context, kind string, limit int) ([][]byte, error)
}

// Memory is a Store in the process's memory.
type Memory struct {
	mu    sync.Mutex
	kinds map[string]*shelf
}

// shelf holds the rows of one kind.
type shelf struct {
	rows  map[string][]byte
	order []string // of creation
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{kinds: map[string]*shelf{}} }

// Update implements Store.
func (m *Memory) Update(_ context.Context, fn func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	t := &memoryTx{m: m}
	done := false
	defer func() {
		if !done { // fn failed, or panicked
			for _, undo := range slices.Backward(t.undo) {
				undo()
			}
		}
	}()

	err := fn(t)
	done = err == nil

	return err
}

type memoryTx struct {
	m    *Memory
	undo []func()
}

func (t *memoryTx) shelfOf(kind string) *shelf {
	if t.m.kinds[kind] == nil {
		t.m.kinds[kind] = &shelf{rows: map[string][]byte{}}
	}
	return t.m.kinds[kind]
}

func (t *memoryTx) Get(_ context.Context, kind, id string) ([]byte, error) {
	return t.shelfOf(kind).rows[id], nil
}

func (t *memoryTx) Put(_ context.Context, kind, id string, body []byte) error {
	s := t.shelfOf(kind)
	before, was := s.rows[id]
	s.rows[id] = body
	if was {
		t.undo = append(t.undo, func() { s.rows[id] = before })
		return nil
	}

	s.order = append(s.order, id)
	t.undo = append(t.undo, func() {
		delete(s.rows, id)
		s.order = s.order[:len(s.order)-1]
	})

	return nil
}

func (t *memoryTx) Delete(_ context.Context, kind, id string) error {
	s := t.shelfOf(kind)
	before, was := s.rows[id]
	if !was {
		return nil
	}

	delete(s.rows, id)
	at := slices.Index(s.order, id)
	s.order = slices.Delete(s.order, at, at+1)
	t.undo = append(t.undo, func() {
		s.rows[id] = before
		s.order = slices.Insert(s.order, at, id)
	})

	return nil
}

func (t *memoryTx) List(_ context.Context, kind string, limit int) ([][]byte, error) {
	s := t.shelfOf(kind)
	var all [][]byte
	for _, id := range slices.Backward(s.order) {
		if limit > 0 && len(all) == limit {
			break
		}
		all = append(all, s.rows[id])
	}

	return all, nil
}
