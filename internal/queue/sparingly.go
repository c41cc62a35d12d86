package queue

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	// patience is the minimum delay between two searches of a function that Sparingly returns.
	patience = time.Second
	// share is the part of the time that a worker may spend on such searches: one in share.
	share = 50
)

// Sparingly returns find as a function that does nothing until some time after its last call has passed: a second, or
// fifty times as long as the call took. The function must not be called concurrently.
func Sparingly(find func(context.Context) ([]id.ID, error)) func(context.Context) ([]id.ID, error) {
	var next time.Time
	return func(ctx context.Context) ([]id.ID, error) {
		begun := time.Now()
		if begun.Before(next) {
			return nil, nil
		}
		found, err := find(ctx)
		next = time.Now().Add(max(patience, share*time.Since(begun)))
		return found, err
	}
}
