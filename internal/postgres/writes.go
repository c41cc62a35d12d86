package postgres

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	probePause = time.Second     // between two probes
	probeTime  = 2 * time.Second // timeout of one probe
)

// Writes knows whether writes to a database succeed. The pools of one database in a process share one Writes. It is
// safe for concurrent use.
//
// It costs nothing while writes succeed. It begins to probe when there is a doubt: a statement was refused because the
// server is read-only, full or has an I/O error, a commit timed out, or a session reports that its server has become
// read-only. A probe opens a new session, as the pools would, and writes. Probes go on, one per second, until one
// succeeds.
//
// If a probe succeeds although sessions of the pools were read-only, those lead to a server that is no longer the
// primary: all sessions of the pools are dropped. While no server takes writes they are kept, since reads go on.
//
// A nil Writes, that of a pool on a standby, observes nothing.
type Writes struct {
	log     *slog.Logger
	failing atomic.Bool
	stale   atomic.Bool // sessions of the pools are read-only
	turn    chan struct{}

	mu      sync.Mutex
	pools   []*DB
	doubts  int                // since the start
	stop    context.CancelFunc // nil unless a watch runs
	stopped chan struct{}      // closed when the watch has ended
}

// NewWrites returns a Writes for the pools that Options give it. It logs when writes begin to fail and when they
// succeed again.
func NewWrites(log *slog.Logger) *Writes {
	return &Writes{log: log, turn: make(chan struct{}, 1)}
}

// Failing reports whether writes failed at the last probe.
func (w *Writes) Failing() bool { return w != nil && w.failing.Load() }

// Writes returns the Writes of the pool; nil if the pool is one on a standby.
func (db *DB) Writes() *Writes { return db.writes }

// Check reports whether writes succeed. It asks a session of the pool, without writing, whether the server is
// read-only, and probes if that is new. An error means that the server did not answer.
func (w *Writes) Check(ctx context.Context) (ok bool, err error) {
	pools := w.watchedPools()
	if len(pools) == 0 || w.Failing() { // while writes fail, the watch probes
		return !w.Failing(), nil
	}

	c, err := pools[0].pool.Acquire(ctx)
	if err != nil {
		return false, err
	}

	refuses, err := isReadOnly(ctx, c.Conn().PgConn())
	c.Release()
	if err != nil || !refuses {
		return !w.Failing(), err
	}

	w.stale.Store(true)
	w.probeWrite(ctx)
	found := !w.stale.Load() // a server that takes writes
	if !found {
		w.startWatch(true) //nolint:contextcheck // the watch outlives the caller
	}

	return found, nil
}

// observeError begins to probe if err raises a doubt. commit reports that the transaction was at its commit.
func (w *Writes) observeError(ctx context.Context, err error, commit bool) {
	if w == nil {
		return
	}
	code := Code(err)
	timeout := commit && code == "" && errors.Is(ctx.Err(), context.DeadlineExceeded)
	if refusesWrites(code) || timeout {
		w.startWatch(code == readOnly) //nolint:contextcheck // the watch outlives the caller
	}
}

// observeSession begins to probe if the server of a session that is not in use has become read-only. The server
// reports a change of these settings by itself.
func (w *Writes) observeSession(c *pgconn.PgConn) {
	if w == nil {
		return
	}
	if c.ParameterStatus("in_hot_standby") == "on" || c.ParameterStatus("default_transaction_read_only") == "on" {
		w.startWatch(true)
	}
}

// startWatch starts a watch unless one runs.
func (w *Writes) startWatch(stale bool) {
	if stale {
		w.stale.Store(true)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubts++
	if w.stop != nil || len(w.pools) == 0 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.stopped = make(chan struct{})
	go w.watchWrites(ctx)
}

// watchWrites probes until a probe succeeds and no doubt has come up since it began.
func (w *Writes) watchWrites(ctx context.Context) {
	defer close(w.stopped)
	for {
		w.mu.Lock()
		seen := w.doubts
		w.mu.Unlock()
		w.probeWrite(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(probePause):
		}
		w.mu.Lock()
		if ctx.Err() != nil || !w.failing.Load() && w.doubts == seen {
			w.stop()
			w.stop = nil
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// probeWrite writes in a new session and records the outcome, unless ctx ends before there is one.
func (w *Writes) probeWrite(ctx context.Context) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return
	}

	pools := w.watchedPools()
	if len(pools) == 0 {
		return
	}

	probing, cancel := context.WithTimeout(ctx, probeTime)
	err := pools[0].tryWrite(probing)
	cancel()
	switch {
	case ctx.Err() != nil:
	case err == nil:
		if w.stale.Swap(false) {
			for _, db := range pools {
				db.dropSessions()
			}
		}
		if w.failing.Swap(false) {
			w.log.InfoContext(ctx, "writes succeed again")
		}
	case Code(err) == tooManySessions: // says nothing about the sessions of the pools
	case !w.failing.Swap(true):
		w.log.ErrorContext(ctx, "writes fail", "error", err)
	}
}

func (w *Writes) watchedPools() []*DB {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pools)
}

// add makes w watch for db.
func (w *Writes) add(db *DB) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pools = append(w.pools, db)
}

// remove ends the watch for db. After the last pool is removed, nothing is probed any more.
func (w *Writes) remove(db *DB) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.pools = slices.DeleteFunc(w.pools, func(p *DB) bool { return p == db })
	var stopped chan struct{}
	if len(w.pools) == 0 && w.stop != nil {
		w.stop()
		stopped = w.stopped
	}
	w.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
}
