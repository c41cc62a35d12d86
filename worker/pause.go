package worker

import (
	"context"
	"time"
)

// pause waits for d and returns true, or false when ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err() == nil
}
