package worker

import (
	"context"
	"time"
)

// pauseFor waits for d and returns true, or false when ctx ends.
func pauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err() == nil
}
