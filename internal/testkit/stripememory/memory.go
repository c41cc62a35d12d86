// Package stripememory keeps the state of a Stripe sandbox in memory, for tests with many sandboxes.
package stripememory

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"sync"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// Memory is a stripe.Store in the process's memory.
type Memory struct {
	mu     sync.Mutex
	rows   map[place]*stripe.Row
	kinds  map[place][]*stripe.Row          // by kind, ordered by Seq; id is ""
	marks  map[place]map[string]*stripe.Row // by kind, and by mark in place of the id
	timers map[string]*timers
	seq    int64
	undo   []func()
}

type place struct{ account, kind, id string }

// New returns an empty store.
func New() *Memory {
	return &Memory{
		rows: map[place]*stripe.Row{}, kinds: map[place][]*stripe.Row{}, marks: map[place]map[string]*stripe.Row{},
		timers: map[string]*timers{},
	}
}

// Update implements stripe.Store.
func (m *Memory) Update(_ context.Context, fn func(stripe.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.undo = m.undo[:0]
	err := fn((*memoryTx)(m))
	if err != nil {
		for _, back := range slices.Backward(m.undo) {
			back()
		}
	}
	return err
}

// View implements stripe.Store.
func (m *Memory) View(_ context.Context, fn func(stripe.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fn((*memoryTx)(m))
}

type memoryTx Memory

func (m *memoryTx) Get(_ context.Context, account, kind, id string) (*stripe.Row, error) {
	return copied(m.rows[place{account, kind, id}]), nil
}

func copied(r *stripe.Row) *stripe.Row {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

func (m *memoryTx) Put(_ context.Context, r *stripe.Row) error {
	at := place{r.Account, r.Kind, r.ID}
	before := m.rows[at]
	now := copied(r)
	if before == nil {
		m.seq++
		now.Seq = m.seq
	} else {
		now.Seq = before.Seq
	}
	r.Seq = now.Seq
	m.set(at, before, now)
	m.undo = append(m.undo, func() { m.set(at, now, before) })
	return nil
}

func (m *memoryTx) Delete(_ context.Context, account, kind, id string) error {
	at := place{account, kind, id}
	if before := m.rows[at]; before != nil {
		m.set(at, before, nil)
		m.undo = append(m.undo, func() { m.set(at, nil, before) })
	}
	return nil
}

// set replaces a row in the map and in the indexes.
func (m *memoryTx) set(at place, before, now *stripe.Row) {
	all := place{at.account, at.kind, ""}
	find := func(seq int64) (int, bool) {
		return slices.BinarySearchFunc(m.kinds[all], seq, func(r *stripe.Row, s int64) int {
			return cmp.Compare(r.Seq, s)
		})
	}
	if before != nil {
		for _, mark := range before.Marks {
			delete(m.marks[place{at.account, at.kind, mark}], at.id)
		}
		if i, ok := find(before.Seq); ok && now == nil {
			m.kinds[all] = slices.Delete(m.kinds[all], i, i+1)
		}
	}
	if now == nil {
		delete(m.rows, at)
		return
	}
	m.rows[at] = now
	if i, ok := find(now.Seq); ok {
		m.kinds[all][i] = now
	} else {
		m.kinds[all] = slices.Insert(m.kinds[all], i, now)
	}
	for _, mark := range now.Marks {
		by := place{at.account, at.kind, mark}
		if m.marks[by] == nil {
			m.marks[by] = map[string]*stripe.Row{}
		}
		m.marks[by][at.id] = now
	}
	if now.Timer != "" && (before == nil || before.Due != now.Due || before.Timer != now.Timer) {
		if m.timers[now.Timer] == nil {
			m.timers[now.Timer] = &timers{}
		}
		heap.Push(m.timers[now.Timer], timer{now.Due, now.Seq, at})
	}
}

func (m *memoryTx) Find(_ context.Context, q stripe.Query) ([]*stripe.Row, error) {
	var all []*stripe.Row
	for at, rows := range m.kinds {
		if at.kind == q.Kind && (q.Anywhere || at.account == q.Account) {
			all = append(all, m.narrowed(at, rows, q)...)
		}
	}
	slices.SortFunc(all, func(a, b *stripe.Row) int { return cmp.Compare(b.Seq, a.Seq) })
	if q.After > 0 {
		slices.Reverse(all)
	}
	var found []*stripe.Row
	for _, r := range all {
		switch {
		case q.Before > 0 && r.Seq >= q.Before, q.After > 0 && r.Seq <= q.After,
			q.Since > 0 && r.Created < q.Since, q.Until > 0 && r.Created > q.Until,
			slices.ContainsFunc(q.All, func(mark string) bool { return !slices.Contains(r.Marks, mark) }),
			len(q.Any) > 0 && !slices.ContainsFunc(q.Any, func(mark string) bool {
				return slices.Contains(r.Marks, mark)
			}):
			continue
		}
		if found = append(found, copied(r)); len(found) == q.Limit {
			break
		}
	}
	return found, nil
}

// narrowed returns the smallest set of rows that an index yields for a query.
func (m *memoryTx) narrowed(at place, rows []*stripe.Row, q stripe.Query) []*stripe.Row {
	if len(q.All) > 0 {
		best := m.marks[place{at.account, at.kind, q.All[0]}]
		for _, mark := range q.All[1:] {
			if other := m.marks[place{at.account, at.kind, mark}]; len(other) < len(best) {
				best = other
			}
		}
		few := make([]*stripe.Row, 0, len(best))
		for _, r := range best {
			few = append(few, r)
		}
		return few
	}
	if q.Before > 0 || q.After > 0 {
		i, _ := slices.BinarySearchFunc(rows, cmp.Or(q.Before, q.After), func(r *stripe.Row, s int64) int {
			return cmp.Compare(r.Seq, s)
		})
		if q.Before > 0 {
			return rows[:i]
		}
		return rows[i:]
	}
	return rows
}

func (m *memoryTx) Due(_ context.Context, name string, by int64, limit int) ([]*stripe.Row, error) {
	h := m.timers[name]
	if h == nil {
		return nil, nil
	}
	var found []*stripe.Row
	var back []timer
	for h.Len() > 0 && (*h)[0].due <= by && len(found) < limit {
		t := heap.Pop(h).(timer)
		r := m.rows[t.at]
		if r == nil || r.Timer != name || r.Due != t.due || slices.ContainsFunc(back, func(b timer) bool {
			return b.at == t.at
		}) {
			continue // outdated: its timer changed or it was deleted
		}
		found, back = append(found, copied(r)), append(back, t)
	}
	for _, t := range back {
		heap.Push(h, t)
	}
	return found, nil
}

// timers is a heap of due times. Outdated entries stay and are skipped.
type timers []timer

type timer struct {
	due, seq int64
	at       place
}

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].due < t[j].due || t[i].due == t[j].due && t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *timers) Push(x any) { *t = append(*t, x.(timer)) }

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
