package store

import (
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The protocol's constants. job_wake in the migrations must match First.
const (
	Lease = 20 * time.Second // duration of a claim or an extension, and between two checks of a row
	First = 3 * time.Second  // time from a push to the first check of the row
	// MaxLosses is how many runs of a job may vanish before the job is dead. It bounds a job that kills its worker.
	MaxLosses = 20
)

// Store is the job table as workers, the relay, the feeder and operators use it. Each method is one transition of the
// protocol in one short transaction. After it returns, the caller makes the changes in asynq.
type Store struct {
	App    *postgres.DB // claims and completions, under the job's org
	System *postgres.DB // extensions, scans and feeding, for all orgs
	// Lease and First default to the constants of the same name; tests shorten them.
	Lease, First time.Duration
	// Hooks are called when a job changes without a run. Every process with a Store needs the same hooks.
	Hooks Hooks
	// Aliases are the aliases of all kinds that are being renamed. Every process with a Store needs the same aliases.
	Aliases Aliases
}

// New returns a Store with the protocol's default times.
func New(app, system *postgres.DB) *Store {
	return &Store{App: app, System: system, Lease: Lease, First: First}
}

// ErrMissed reports that there was nothing to claim: the job is gone, is waiting, or is held by another run.
var ErrMissed = errors.New("nothing to claim")
