package counts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// errUndone is returned by a transaction that is to be rolled back.
var errUndone = errors.New("undone")

// writers change the rows of an office from many sessions.
type writers struct {
	*office
	committed, failed int
	mu                sync.Mutex
}

// change is one random change in tx.
func (w *writers) change(ctx context.Context, tx *postgres.Tx, r *rand.Rand) error {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	enrolment := `(SELECT id FROM enrolment WHERE org_id = $1 ORDER BY random() LIMIT 1)`
	email := `(SELECT id FROM email WHERE org_id = $1 ORDER BY random() LIMIT 1)`
	switch r.IntN(10) {
	case 0, 1:
		var ids []id.ID
		for range 1 + r.IntN(4) {
			ids = append(ids, id.New())
		}
		_, err := tx.Exec(ctx, enrolSQL, tx.Org(), w.sequences[r.IntN(2)], ids, pick(states.All()...))
		return err
	case 2, 3:
		var of *id.ID
		if r.IntN(3) > 0 {
			if err := tx.QueryRow(ctx, `SELECT `+enrolment, []any{tx.Org()}, &of); err != nil {
				return err
			}
		}
		var variant *string
		if r.IntN(2) > 0 {
			variant = new(pick("a", "b"))
		}
		w.queueEmail(tx, id.New(), of, pick("hello", "later"), variant, pick("scheduled", "planned"))
		return tx.Flush(ctx)
	case 4:
		_, err := tx.Exec(ctx, `UPDATE enrolment SET state = $2 WHERE org_id = $1 AND id = `+enrolment, tx.Org(),
			pick(states.All()...))
		return err
	case 5:
		_, err := tx.Exec(ctx, `UPDATE enrolment n SET state = $2, last_email_id = (SELECT e.id FROM email e
			WHERE e.org_id = $1 AND e.enrolment_id = n.id LIMIT 1) WHERE org_id = $1 AND id = `+enrolment, tx.Org(),
			pick("unsubscribed", "finished"))
		return err
	case 6:
		_, err := tx.Exec(ctx, `UPDATE email SET status = 'transmitting', marked_at = clock_timestamp()
			WHERE org_id = $1 AND id = `+email, tx.Org())
		return err
	case 7:
		_, err := tx.Exec(ctx, `UPDATE email SET status = $2::text,
				marked_at = CASE WHEN $2::text <> 'planned' THEN marked_at END
			WHERE org_id = $1 AND id = `+email, tx.Org(),
			pick("sent", "sent", "planned", "unknown", "failed", "cancelled"))
		return err
	case 8:
		_, err := tx.Exec(ctx, `UPDATE email SET opens = opens + $2::int, clicks = $3::int,
			machine_opens = machine_opens + $3::int, machine_clicks = $2::int,
			replied_at = CASE WHEN $2::int = 1 THEN now() END, delivered_at = now()
			WHERE org_id = $1 AND id = `+email, tx.Org(), r.IntN(2), r.IntN(2))
		return err
	default:
		_, err := tx.Exec(ctx, `DELETE FROM enrolment WHERE org_id = $1 AND id = `+enrolment, tx.Org())
		return err
	}
}

// transaction does a few changes. Some of it, or all, may be undone, by a rollback or the end of its session.
func (w *writers) transaction(ctx context.Context, r *rand.Rand) error {
	if r.IntN(20) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(8000))*time.Microsecond)
		defer cancel()
	}
	return w.App.Tx(ctx, w.org, func(tx *postgres.Tx) error {
		for range 1 + r.IntN(3) {
			if err := w.change(ctx, tx, r); err != nil {
				return err
			}
			err := tx.Savepoint(ctx, func() error {
				err := w.change(ctx, tx, r)
				if err == nil && r.IntN(2) == 0 {
					err = errUndone
				}
				return err
			})
			if err != nil && !errors.Is(err, errUndone) {
				return err
			}
		}
		if r.IntN(10) == 0 {
			return errUndone
		}
		return nil
	})
}

// unregistered does what an earlier release, or an operator, does: the transaction has an id before its first change.
func (w *writers) unregistered(ctx context.Context, r *rand.Rand) error {
	conn, err := pgx.Connect(ctx, w.URL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_current_xact_id(), pg_sleep($1)`, r.Float64()/30); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE enrolment SET state = 'goal_met' WHERE org_id = $1
			AND id = (SELECT id FROM enrolment WHERE org_id = $1 ORDER BY random() LIMIT 1)`, w.org); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `SELECT pg_sleep($1)`, r.Float64()/30)
		return err
	})
}

// run changes rows from many sessions until each has done its number of transactions.
func (w *writers) run(sessions, each int, seed uint64) {
	var writing sync.WaitGroup
	for n := range sessions {
		writing.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			for i := range each {
				var err error
				if n == 0 && i%4 == 0 {
					err = w.unregistered(w.Context(), r)
				} else {
					err = w.transaction(w.Context(), r)
				}
				w.note(err)
			}
		})
	}
	writing.Wait()
}

// note records how a transaction ended. A deadlock is the fault of the changes, which take locks in any order.
func (w *writers) note(err error) {
	code, _ := errors.AsType[*pgconn.PgError](err)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.committed++
	case errors.Is(err, errUndone), errors.Is(err, context.DeadlineExceeded), postgres.Away(err),
		postgres.Lost(err), postgres.TimedOut(err), code != nil && code.Code == "40P01",
		code != nil && code.ConstraintName == "email_step":
		w.failed++
	default:
		w.Errorf("a change failed: %v", err)
	}
}

// background calls do in a loop until the returned function is called, which waits for its end.
func background(do func(r *rand.Rand)) (stop func()) {
	var (
		running sync.WaitGroup
		done    = make(chan struct{})
	)
	running.Go(func() {
		r := rand.New(rand.NewPCG(3, 5))
		for {
			select {
			case <-done:
				return
			default:
				do(r)
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}

// TestCountsAreExactWhateverCommitsRollsBackAndIsKilledBesideFoldsAndFirstCounts compares counts with the rows whenever
// the writers pause. Two processes fold all the time, and their folds are cut short at any point. A foreign transaction
// that writes, and a snapshot, are open all the time.
func TestCountsAreExactWhateverCommitsRollsBackAndIsKilledBesideFoldsAndFirstCounts(t *testing.T) {
	t.Parallel()
	w := &writers{office: open(t)}
	w.exec(`SET session_replication_role = replica`) // rows from before the triggers
	for n := range 20 {
		w.exec(enrolSQL, w.org, w.sequences[n%2], []id.ID{id.New()}, "active")
	}
	w.exec(`RESET session_replication_role`)
	for _, begin := range []string{
		`BEGIN; SELECT pg_current_xact_id()`, `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM enrolment`,
	} {
		if _, err := testkit.Pgx(t, w.URL).Exec(t.Context(), begin); err != nil {
			t.Fatal(err)
		}
	}
	var folds, all atomic.Int64
	for range 2 {
		f := &counts.Folder{DB: w.System}
		p := &events.HorizonPublisher{DB: w.System}
		defer background(func(r *rand.Rand) {
			ctx, cancel := t.Context(), func() {}
			if r.IntN(4) == 0 {
				ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(50000))*time.Microsecond)
			}
			if f.FoldNow(ctx) == nil {
				folds.Add(1)
			}
			all.Add(1)
			cancel()
			_ = p.Publish(t.Context())
		})()
	}
	for round := range 6 {
		if round == 1 || round == 3 { // a first count beside the writers, and beside those that fold
			source := w.sources()[round-1]
			begun := background(func(*rand.Rand) {
				_ = w.App.Tx(t.Context(), w.org, func(tx *postgres.Tx) error {
					return counts.Begin(t.Context(), tx, source)
				})
			})
			defer begun()
		}
		w.run(6, 40, uint64(round))
		w.check(fmt.Sprintf("round %d", round))
	}
	if w.committed < 500 || w.failed < 50 || folds.Load() < 50 || folds.Load() == all.Load() {
		t.Errorf("%d transactions have committed, and %d have not; %d of %d folds", w.committed, w.failed, folds.Load(),
			all.Load())
	}
	f := &counts.Folder{DB: w.System}
	for _, source := range []id.ID{w.sequences[0], w.broadcast} {
		if n := w.one(`SELECT count(*) FROM outreach_count WHERE source_id = $1`, source); n == 0 {
			t.Errorf("%v was not counted", source)
		}
	}
	if err := f.FoldNow(t.Context()); err != nil {
		t.Error(err)
	}
	w.check("at the end")
}
