package sync

import (
	"sync"

	"github.com/funnelwork/funnelwork/internal/id"
)

// owners caches the org of each customer. It is bounded: when it is full, it is cleared.
type owners struct {
	mu  sync.Mutex
	org map[string]id.ID
}

const mostOwners = 1 << 14

func (o *owners) get(customer string) (id.ID, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	org, ok := o.org[customer]
	return org, ok
}

func (o *owners) put(customer string, org id.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.org == nil || len(o.org) >= mostOwners {
		o.org = make(map[string]id.ID)
	}
	o.org[customer] = org
}
