package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"     // T8: the row goes
	Failed   Outcome = "failed"   // T9 with attempts left: the row waits for In
	Died     Outcome = "dead"     // T9 with none left, or Drop
	Snoozed  Outcome = "snoozed"  // T10: the row waits for In, no attempt spent
	Released Outcome = "released" // T11: the row is free at once, or after In where that is set
)

// Verdict is an outcome with what belongs to it.
type Verdict struct {
	Outcome Outcome
	Error   string        // of Failed and Died
	In      time.Duration // until the next run, of Failed, Snoozed and Released
}

// ErrFenced is a verdict that came too late: another run holds the job or has ended it. Nothing was written.
var ErrFenced = errors.New("the run no longer holds its job")

// fence is whom a verdict is taken from: the run that claimed the row, or, where the row lock is the lease, the
// holder of the lock. The attempt is part of it so that one attempt ends once, even where a verdict had to be
// written by a second transaction.
const fence = `
WHERE org_id = $1 AND id = $2 AND owner IS NOT DISTINCT FROM $3 AND attempt = $4 AND state = 'ready' AND wake_at IS NOT NULL`

const (
	// T8
	doneSQL = `DELETE FROM job` + fence
	// T9, attempts left
	failSQL = `UPDATE job SET attempt = attempt + 1, last_error = $5, owner = NULL, run_at = now() + $6::interval, due = false, wake_at = NULL` + fence
	// T9, none left. The dedupe key goes: a dead job must not keep its successors out.
	dieSQL = `UPDATE job SET attempt = attempt + 1, last_error = $5, owner = NULL, state = 'dead', dedupe_key = NULL, wake_at = now() + $6::interval` + fence
	// T10
	snoozeSQL = `UPDATE job SET owner = NULL, run_at = now() + $5::interval, due = false, wake_at = NULL` + fence
	// T11
	releaseSQL = `UPDATE job SET owner = NULL, wake_at = now()` + fence
)

func (l *Ledger) statement(c *Claimed, v Verdict) (string, []any) {
	key := []any{c.Org, c.ID, c.owner, c.Attempt - 1}
	switch v.Outcome {
	case Done:
		return doneSQL, key
	case Failed:
		return failSQL, append(key, v.Error, v.In)
	case Died:
		return dieSQL, append(key, v.Error, l.Lease)
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

// Finish is T8 to T11 of a claimed job, with the run's effects in the same transaction unless it is released.
// ErrFenced where the run has lost its job; then, as after any other error, nothing was written. It may be
// repeated after an error.
func (l *Ledger) Finish(ctx context.Context, c *Claimed, v Verdict) error {
	sql, args := l.statement(c, v)
	if len(c.effects)+len(c.shared) > 0 && v.Outcome != Released || v.Outcome == Died && l.Hooked(c) {
		return l.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error { return l.Settle(ctx, tx, c, v) })
	}
	var n int64
	err := l.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error {
		tx.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error { n = tag.RowsAffected(); return nil })
		return nil
	})
	if err == nil && n == 0 {
		return ErrFenced
	}
	return err
}

// Settle writes the run's effects, what the kind's hook makes of a job that is dead, and the verdict in tx, which must be the transaction that locked the job where
// the lock is the lease. Return its error from tx, so that an ErrFenced undoes the effects.
func (l *Ledger) Settle(ctx context.Context, tx *postgres.Tx, c *Claimed, v Verdict) error {
	for _, write := range c.effects {
		if err := write(ctx, tx); err != nil {
			return err
		}
	}
	if err := write(tx, c.shared); err != nil {
		return err
	}
	if v.Outcome == Died && l.Hooked(c) {
		if err := l.Hooks[c.Kind].Stopped(ctx, tx, []json.RawMessage{c.Raw}); err != nil {
			return err
		}
	}
	sql, args := l.statement(c, v)
	if c.owner == nil { // the lock is the fence, so the verdict may travel with the commit
		tx.Queue(sql, args...)
		return nil
	}
	n, err := tx.Exec(ctx, sql, args...)
	if err == nil && n == 0 {
		return ErrFenced
	}
	return err
}

// DropEffects forgets the effects of a run whose effects themselves cannot be written.
func (c *Claimed) DropEffects() { c.effects, c.shared = nil, nil }

// write lets each writer write its items.
func write(tx *postgres.Tx, parts []part) error {
	for len(parts) > 0 {
		by := parts[0].by
		var items []any
		var others []part
		for _, p := range parts {
			if p.by == by {
				items = append(items, p.item)
			} else {
				others = append(others, p)
			}
		}
		if err := by.Write(tx, items); err != nil {
			return err
		}
		parts = others
	}
	return nil
}
