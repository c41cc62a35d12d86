package ops

import (
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// laneBacklog is one lane of backlogs.
type laneBacklog struct {
	OldestOpenSeconds float64 `json:"oldest_open_seconds"`
	Paused            bool    `json:"paused"`
	Delayed           int     `json:"delayed"`
	Waiting           int     `json:"waiting"`
	Pushed            int     `json:"pushed"`
	Running           int     `json:"running"`
	Dead              int     `json:"dead"`
}

// backlogs is the response of GET /jobs/backlog.
type backlogs struct {
	OldestOpenSeconds float64                `json:"oldest_open_seconds"`
	Lanes             map[string]laneBacklog `json:"lanes"`
}

// showBacklog returns the backlog of each lane, read from Postgres, for autoscalers without Prometheus. Every process
// returns the same numbers. The top-level age is the maximum of the lanes that run: workers cannot catch up with a
// paused lane, however many there are.
func (a *jobsAPI) showBacklog(r *http.Request) (int, any, error) {
	if _, err := readQuery(r); err != nil {
		return 0, nil, err
	}

	lanes, err := a.store.Backlogs(r.Context())
	if err != nil {
		return 0, nil, err
	}

	stops, err := a.store.Stops(r.Context(), time.Time{})
	if err != nil {
		return 0, nil, err
	}

	out := backlogs{Lanes: map[string]laneBacklog{}}
	for _, b := range lanes {
		lane := laneBacklog{
			OldestOpenSeconds: b.Oldest.Seconds(), Paused: stops.Lanes[b.Lane],
			Delayed: b.Counts[store.StageDelayed], Waiting: b.Counts[store.StageWaiting],
			Pushed: b.Counts[store.StagePushed], Running: b.Counts[store.StageRunning],
			Dead: b.Counts[store.StageDead],
		}
		out.Lanes[string(b.Lane)] = lane
		if !lane.Paused {
			out.OldestOpenSeconds = max(out.OldestOpenSeconds, lane.OldestOpenSeconds)
		}
	}

	return http.StatusOK, out, nil
}
