package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Limits of a Vacuumer. A server's autovacuum looks at a table once a minute, in which a busy worker leaves more dead
// rows by the hundred than the table has live ones.
const (
	vacuumDead   = 500              // dead rows, and two for each live one, from which the table is vacuumed
	vacuumLook   = 100              // runs between two looks at the table's statistics
	vacuumIdle   = 30 * time.Second // the longest time between two looks
	vacuumGap    = time.Second      // the shortest time between two vacuums
	vacuumGapMax = time.Minute      // the same while a long transaction keeps the dead rows from being removed
	vacuumMost   = 10 * time.Minute // the longest time that one vacuum may take
)

// ErrNotOwner reports that the login of this process may not vacuum the table, so that autovacuum alone does it.
var ErrNotOwner = errors.New("the login of DATABASE_URL does not own the table job and may not vacuum it")

// Vacuumer vacuums the job table when it has too many dead rows: at most 5 for each live one and 1,000. Any number of
// processes may each have one. One vacuum runs at a time, because a table that another session vacuums is skipped.
type Vacuumer struct {
	store   *Store
	ended   atomic.Int64  // runs
	enough  chan struct{} // signals that vacuumLook runs have ended
	cleaned int64         // runs that had ended at the last vacuum
	vacuums int64         // of the table, by any process
	gap     time.Duration
	next    time.Time // no vacuum before it
}

// NewVacuumer returns the Vacuumer of s.
func NewVacuumer(s *Store) *Vacuumer {
	return &Vacuumer{store: s, enough: make(chan struct{}, 1), gap: vacuumGap}
}

// RunEnded counts a run, which leaves dead rows. It is safe for concurrent use.
func (v *Vacuumer) RunEnded() {
	if v.ended.Add(1)%vacuumLook != 0 {
		return
	}
	select {
	case v.enough <- struct{}{}:
	default:
	}
}

// Run looks after the table until ctx ends, and passes errors to report. It returns early if this process may not
// vacuum the table.
func (v *Vacuumer) Run(ctx context.Context, report func(error)) {
	idle := time.NewTicker(vacuumIdle)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.enough:
		case <-idle.C:
		}
		err := v.Look(ctx)
		if err != nil && ctx.Err() == nil {
			report(err)
		}
		if errors.Is(err, ErrNotOwner) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(vacuumGap / 4):
		}
	}
}

// Look vacuums the table if it has too many dead rows.
func (v *Vacuumer) Look(ctx context.Context) error {
	ended := v.ended.Load()
	live, dead, err := v.readRows(ctx, ended)
	most := vacuumDead + 2*live
	if err != nil || dead < most || time.Now().Before(v.next) {
		return err
	}
	if err := v.store.vacuumJobs(ctx); err != nil {
		return err
	}
	v.cleaned = ended
	if _, dead, err = v.readRows(ctx, ended); err != nil {
		return err
	}
	if v.gap = min(2*v.gap, vacuumGapMax); dead < most {
		v.gap = vacuumGap
	}
	v.next = time.Now().Add(v.gap)
	return nil
}

// rowsSQL reads counters in the server's memory. Sessions add to them up to a second late.
const rowsSQL = `
SELECT pg_stat_get_live_tuples(t.oid), pg_stat_get_dead_tuples(t.oid),
	pg_stat_get_vacuum_count(t.oid) + pg_stat_get_autovacuum_count(t.oid)
FROM (SELECT 'job'::regclass::oid) AS t (oid)`

// readRows returns the table's live and dead rows. Dead are at least the rows of this process's runs since the last
// vacuum.
func (v *Vacuumer) readRows(ctx context.Context, ended int64) (live, dead int64, err error) {
	var vacuums int64
	err = v.store.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, rowsSQL, nil, &live, &dead, &vacuums)
	})
	if err == nil && vacuums != v.vacuums {
		v.vacuums, v.cleaned = vacuums, ended
	}
	return live, max(dead, ended-v.cleaned), err
}

// vacuumSQL also cleans the indexes where few pages have dead rows: their entries are what claims and scans read.
const vacuumSQL = "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, PARALLEL 0) job"

// lockNotAvailable is the code of the warning that another session vacuums or alters the table.
const lockNotAvailable = "55P03"

func (s *Store) vacuumJobs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, vacuumMost)
	defer cancel()
	err := s.System.Maintain(ctx, vacuumSQL)
	switch postgres.Code(err) {
	case lockNotAvailable:
		return nil
	case "01000": // a warning without a code of its own
		return errors.Join(ErrNotOwner, err)
	}
	return err
}
