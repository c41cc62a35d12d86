package scheduler

import (
	"context"
	"time"
)

// CatchUp exports catchUp.
func (s *Scheduler) CatchUp(ctx context.Context, e Entry, last, now time.Time) (time.Time, error) {
	return s.catchUp(ctx, e, last, now)
}
