package feed

import (
	"sync"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// cursor is a group's position in the index. The zero value is before all groups.
type cursor struct {
	org, line id.ID
	kind      string
}

// Feeder assigns slots to waiting jobs. Its state between rounds is a cursor.
// The slots that are held are rows, so another Feeder may take over at any time. It is safe for concurrent use.
type Feeder struct {
	store *store.Store
	mu    sync.Mutex
	from  map[queue.Lane]cursor // where the next round continues
}

// New returns a Feeder for the jobs of s.
func New(s *store.Store) *Feeder {
	return &Feeder{store: s, from: map[queue.Lane]cursor{}}
}

func (f *Feeder) cursorOf(lane queue.Lane) cursor {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from[lane]
}

func (f *Feeder) saveCursor(lane queue.Lane, at cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from[lane] = at
}
