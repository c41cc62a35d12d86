package auth

import (
	"context"
	"sync"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// turns serializes callers with the same key in this process. It serializes password checks of one account: a user's
// concurrent logins all succeed, and concurrent guesses are all counted.
type turns struct {
	mu sync.Mutex
	m  map[string]*turn
}

type turn struct {
	free  chan struct{}
	users int
}

// waitFor waits for key and returns the function that releases it.
func (t *turns) waitFor(ctx context.Context, key string) (func(), error) {
	t.mu.Lock()
	if t.m == nil {
		t.m = map[string]*turn{}
	}

	at := t.m[key]
	if at == nil {
		at = &turn{free: make(chan struct{}, 1)}
		t.m[key] = at
	}

	at.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if at.users--; at.users == 0 {
			delete(t.m, key)
		}
	}

	select {
	case at.free <- struct{}{}:
		return func() {
			<-at.free
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, fault.New(fault.Unavailable, "Too many logins at this moment.").Because(ctx.Err())
	}
}
