package operator

import (
	"encoding/json"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// Job is a job as operators see it.
type Job struct {
	ID          id.ID           `json:"id"`
	Org         id.ID           `json:"org_id"`
	Kind        string          `json:"kind"`
	Lane        queue.Lane      `json:"lane"`
	State       State           `json:"state"`
	Attempt     int             `json:"attempt"` // failed attempts
	MaxAttempts int             `json:"max_attempts"`
	Losses      int             `json:"losses"`
	RunAt       time.Time       `json:"run_at"`
	WakeAt      *time.Time      `json:"wake_at"`
	CreatedAt   time.Time       `json:"created_at"`
	DiedAt      *time.Time      `json:"died_at"`
	LastError   string          `json:"last_error"`
	DedupeKey   *string         `json:"dedupe_key"`
	Dispatch    int             `json:"dispatch"`
	Args        json.RawMessage `json:"args,omitempty"` // set by Show only
}

const columns = ` job.id, job.org_id, job.kind, job.lane,
	CASE WHEN job.state = 'dead' THEN 'dead' WHEN job.owner IS NOT NULL OR` + store.LockedSQL +
	` THEN 'running' WHEN job.wake_at IS NOT NULL THEN 'pushed'
		WHEN job.attempt > 0 THEN 'retry' ELSE 'waiting' END,
	job.attempt, job.max_attempts, job.losses, job.run_at, greatest(job.wake_at, job.lease_until), job.created_at,
	job.last_error, job.dedupe_key, job.dispatch`

func (j *Job) scanTargets() []any {
	return []any{
		&j.ID, &j.Org, &j.Kind, &j.Lane, &j.State, &j.Attempt, &j.MaxAttempts, &j.Losses, &j.RunAt, &j.WakeAt,
		&j.CreatedAt,
		&j.LastError, &j.DedupeKey, &j.Dispatch, &j.DiedAt,
	}
}
