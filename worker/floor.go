package worker

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue/store"
)

const (
	// floorMargin is how long a transaction may be open that adds or releases a job, for the next scan to find it.
	floorMargin = time.Minute
	// floorEvery is the interval between two floors while there are jobs.
	floorEvery = 3 * time.Second
)

// scanFloor is where the relay's scans begin: behind the rows of ended jobs, which stay in the index while an old
// snapshot may see them. Only the relay may use it.
type scanFloor struct {
	at   time.Time // no row had an earlier wake_at, by Postgres's clock
	full time.Time // of the last scan from the beginning, by our clock
	jobs bool      // there was a job since the last floor was published
}

// scanStart returns where the next scan begins. Once per lease it is the beginning, so that a row of a transaction that
// was open for longer than the margin is found, too.
func (f *scanFloor) scanStart(every time.Duration) time.Time {
	if time.Since(f.full) >= every {
		return time.Time{}
	}
	return f.at.Add(-floorMargin)
}

// raise takes what a scan from a time has found.
func (f *scanFloor) raise(from time.Time, s *store.Stops) {
	if from.IsZero() {
		f.full = time.Now()
	}
	if s.Clock.Before(f.at) { // the clock was set back
		f.full = time.Time{}
	}
	f.at = s.Clock
	if !s.First.IsZero() {
		f.jobs = true
		if s.First.Before(f.at) {
			f.at = s.First
		}
	}
}

// publishFloor publishes the floor for those who count slots, if the published one is old.
func (w *Worker) publishFloor(ctx context.Context, s *store.Stops) {
	age := w.floor.at.Sub(s.Floor)
	if !w.floor.jobs || 0 <= age && age < floorEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, statement)
	defer cancel()
	if err := w.store.PublishFloor(ctx, w.floor.at); err != nil {
		w.log.WarnContext(ctx, "failed to publish the floor of slots", "error", err)
		return
	}
	w.floor.jobs = false
}
