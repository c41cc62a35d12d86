package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Outcome is the way a run ended.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"     // T8: the row is deleted
	Failed   Outcome = "failed"   // T9 with attempts left: retried after In
	Died     Outcome = "dead"     // T9 without attempts left, or Drop
	Snoozed  Outcome = "snoozed"  // T10: run again after In, no attempt spent
	Released Outcome = "released" // T11: free at once, or after In if set
)

// Completion is an outcome and its details.
type Completion struct {
	Outcome Outcome
	Error   string        // for Failed and Died
	In      time.Duration // delay until the next run, for Failed, Snoozed and Released
}

// ErrFenced reports that a completion came too late: another run holds the job or has completed it. Nothing was
// written.
var ErrFenced = errors.New("the run no longer holds its job")

// fence accepts a completion only from the run that claimed the row or, if the row lock is the lease, from the holder
// of the lock. It includes the attempt so that one attempt ends once, even if a second transaction had to write the
// completion.
const fence = `
WHERE org_id = $1 AND id = $2 AND owner IS NOT DISTINCT FROM $3 AND attempt = $4 AND` + hasSlot

const (
	// T8
	doneSQL = `DELETE FROM job` + fence
	// T9 with attempts left.
	failSQL = `UPDATE job SET attempt = attempt + 1, last_error = $5, owner = NULL, lease_until = NULL, run_at = now() +
		$6::interval, delayed_at = now(), due = false, wake_at = NULL` + fence
	// T9 without attempts left. It clears the dedupe key: a dead job must not block its successors.
	dieSQL = `UPDATE job SET attempt = attempt + 1, last_error = $5, owner = NULL, lease_until = NULL,
		state = 'dead', dedupe_key = NULL, wake_at = now() + $6::interval` + fence
	// T10
	snoozeSQL = `UPDATE job SET owner = NULL, lease_until = NULL, run_at = now() + $5::interval, delayed_at = now(),
		due = false, wake_at = NULL` + fence
	// T11
	releaseSQL = `UPDATE job SET owner = NULL, lease_until = NULL, wake_at = now()` + fence
)

func (s *Store) completionSQL(c *queue.Claimed, v Completion) (string, []any) {
	key := []any{c.Org, c.ID, c.Fence, c.Attempt - 1}
	switch v.Outcome {
	case Done:
		return doneSQL, key
	case Failed:
		return failSQL, append(key, v.Error, v.In)
	case Died:
		return dieSQL, append(key, v.Error, s.Lease)
	case Snoozed:
		return snoozeSQL, append(key, v.In)
	case Released:
		if v.In > 0 {
			return snoozeSQL, append(key, v.In)
		}
		return releaseSQL, key
	default:
		panic("unknown outcome " + string(v.Outcome))
	}
}

// Finish is T8 to T11 for a claimed job. It writes the run's effects in the same transaction unless the run is
// released. It returns ErrFenced if the run has lost its job. After an error nothing was written, and Finish may be
// repeated.
func (s *Store) Finish(ctx context.Context, c *queue.Claimed, v Completion) error {
	sql, args := s.completionSQL(c, v)
	effects := c.HasEffects() || len(c.EffectItems()) > 0
	if effects && v.Outcome != Released || v.Outcome == Died && s.Hooked(c) {
		return s.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error { return s.Settle(ctx, tx, c, v) })
	}
	var n int64
	err := s.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error {
		tx.Queue(ByKeySQL)
		tx.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error {
			n = tag.RowsAffected()
			return nil
		})
		return nil
	})
	if err == nil && n == 0 {
		return ErrFenced
	}
	return err
}

// Settle writes the run's effects, the changes of the kind's hook if the job is dead, and the completion in tx. If the
// row lock is the lease, tx must be the transaction that locked the job. The caller must return Settle's error from tx,
// so that ErrFenced rolls the effects back.
func (s *Store) Settle(ctx context.Context, tx *postgres.Tx, c *queue.Claimed, v Completion) error {
	if err := c.WriteEffects(ctx, tx); err != nil {
		return err
	}
	if v.Outcome == Died && s.Hooked(c) {
		if err := s.Hooks[c.Kind].Stopped(ctx, tx, []json.RawMessage{c.Raw}); err != nil {
			return err
		}
	}
	sql, args := s.completionSQL(c, v)
	tx.Queue(ByKeySQL)
	if c.Fence == nil { // the lock is the fence, so no result is needed
		tx.Queue(sql, args...)
		return nil
	}
	n, err := tx.Exec(ctx, sql, args...)
	if err == nil && n == 0 {
		return ErrFenced
	}
	return err
}

// Hooked reports whether a hook must be called when c will not run again.
func (s *Store) Hooked(c *queue.Claimed) bool {
	return !c.SkipsHook() && s.Hooks[c.Kind].Stopped != nil
}
