package operator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// keyed is a table of jobs and what acts on single ones, through one session of each role.
type keyed struct {
	*testing.T
	sql      *pgx.Conn // a superuser's
	sessions []*postgres.DB
	store    *store.Store
	batch    *store.BatchCompleter
	operator *operator.Operator
	org      id.ID
}

// keyedCall is one use of a job by its key.
type keyedCall struct {
	name  string
	row   string // what is set on the row before
	claim bool   // whether the job is claimed before
	most  int    // buffers of the table and its indexes
	do    func(ctx context.Context, org, job id.ID, run *queue.Claimed) error
}

// noWrites is the shared effect of runs, with nothing to write.
type noWrites struct{ _ byte }

func (*noWrites) Write(*postgres.Tx, []any) error { return nil }

const (
	slotted = "wake_at = now() + interval '1 hour'"
	deadRow = "state = 'dead', last_error = 'x', wake_at = now() + interval '1 hour'"
)

// A claim or an end reads a handful of pages. What a new version of a row writes into the indexes reads some more.
const (
	readMost   = 10
	changeMost = 30
)

func (k *keyed) calls() []keyedCall {
	finish := func(v store.Completion) func(context.Context, id.ID, id.ID, *queue.Claimed) error {
		return func(ctx context.Context, _, _ id.ID, run *queue.Claimed) error { return k.store.Finish(ctx, run, v) }
	}
	finishBatched := func(v store.Completion) func(context.Context, id.ID, id.ID, *queue.Claimed) error {
		return func(ctx context.Context, _, _ id.ID, run *queue.Claimed) error { return k.batch.Finish(ctx, run, v) }
	}
	inTx := func(v store.Completion) func(context.Context, id.ID, id.ID, *queue.Claimed) error {
		return func(ctx context.Context, org, job id.ID, _ *queue.Claimed) error {
			return k.store.App.Tx(ctx, org, func(tx *postgres.Tx) error {
				run, err := k.store.Lock(ctx, tx, job)
				if err != nil {
					return err
				}
				return k.store.Settle(ctx, tx, run, v)
			})
		}
	}
	acted := func(act func(context.Context, operator.By, ...operator.Key) ([]operator.Result, error),
	) func(context.Context, id.ID, id.ID, *queue.Claimed) error {
		return func(ctx context.Context, org, job id.ID, _ *queue.Claimed) error {
			got, err := act(ctx, operator.By{Actor: "test", Reason: "test"}, operator.Key{Org: org, ID: job})
			if err == nil && got[0] != operator.Acted {
				err = fmt.Errorf("result %s", got[0])
			}
			return err
		}
	}
	done, failed := store.Completion{Outcome: store.Done}, store.Completion{Outcome: store.Failed, Error: "x"}
	return []keyedCall{
		{"claim", slotted, false, readMost, func(ctx context.Context, org, job id.ID, _ *queue.Claimed) error {
			_, err := k.store.Claim(ctx, org, job)
			return err
		}},
		{"claim in a batch", slotted, false, readMost, func(ctx context.Context, org, job id.ID,
			_ *queue.Claimed,
		) error {
			_, err := k.batch.Claim(ctx, org, job)
			return err
		}},
		{"extend", slotted, true, readMost, func(ctx context.Context, _, _ id.ID, run *queue.Claimed) error {
			held, err := k.store.Extend(ctx, []*queue.Claimed{run})
			if err == nil && len(held) != 1 {
				err = store.ErrFenced
			}
			return err
		}},
		{"done", slotted, true, readMost, finish(done)},
		{"done in a batch", slotted, true, readMost, finishBatched(done)},
		{"done with shared effects", slotted, true, readMost, func(ctx context.Context, _, _ id.ID,
			run *queue.Claimed,
		) error {
			run.EffectBatch(&noWrites{}, nil)
			return k.batch.Finish(ctx, run, done)
		}},
		{"locked and done", slotted, false, 2 * readMost, inTx(done)},
		{"locked and failed", slotted, false, changeMost, inTx(failed)},
		{"failed", slotted, true, changeMost, finish(failed)},
		{"failed in a batch", slotted, true, changeMost, finishBatched(failed)},
		{"dead", slotted, true, changeMost, finish(store.Completion{Outcome: store.Died, Error: "x"})},
		{"snoozed", slotted, true, changeMost, finish(store.Completion{Outcome: store.Snoozed})},
		{"released", slotted, true, changeMost, finish(store.Completion{Outcome: store.Released})},
		{"read whether dead", deadRow, false, readMost, func(ctx context.Context, org, job id.ID,
			_ *queue.Claimed,
		) error {
			_, _, _, _, err := k.store.Dead(ctx, org, job)
			return err
		}},
		{"read the task of the dead", deadRow, false, readMost, func(ctx context.Context, org, job id.ID,
			_ *queue.Claimed,
		) error {
			_, err := k.store.TaskOfDead(ctx, org, job)
			return err
		}},
		{"listed", deadRow, false, changeMost, func(ctx context.Context, org, job id.ID, _ *queue.Claimed) error {
			_, err := k.store.MarkListed(ctx, queue.Ref{Org: org, ID: job})
			return err
		}},
		{"supersede", slotted, false, changeMost, func(ctx context.Context, org, job id.ID, _ *queue.Claimed) error {
			_, err := k.store.Supersede(ctx, queue.Ref{Org: org, ID: job}, 0)
			return err
		}},
		{"run now", deadRow, false, changeMost, acted(k.operator.Run)},
		{"archive", slotted, false, changeMost, acted(k.operator.Archive)},
		{"drop", slotted, false, readMost, acted(k.operator.Drop)},
		{"show", slotted, false, readMost, func(ctx context.Context, org, job id.ID, _ *queue.Claimed) error {
			_, err := k.operator.Show(ctx, operator.Key{Org: org, ID: job})
			return err
		}},
	}
}

// A plan that was made while the table was empty, or full of slots, is kept by its session for as long as nothing
// makes it invalid. It must read no more than the row that it is about.
func TestWhatActsOnAJobByItsKeyReadsAFewPagesHoweverTheTableLooksAndLooked(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	k := &keyed{T: t, sql: testkit.Pgx(t, db.URL), org: id.New()}
	fill := `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
		SELECT CASE g % 2 WHEN 0 THEN '` + k.org.String() + `' ELSE md5((g % 5)::text)::uuid END,
			gen_random_uuid(), 'test.full', '{}', 'default', 3, now() + interval '1 hour'
		FROM generate_series(1, 12000) AS g`
	k.exec("ALTER TABLE job SET (autovacuum_enabled = off)")
	k.open(db.URL)
	k.try("empty and never analysed")
	k.exec(fill)
	k.try("filled since the plans were made")
	k.exec("DELETE FROM job WHERE kind = 'test.full'")
	k.exec("VACUUM (TRUNCATE) job")
	k.exec("ANALYZE job")
	k.try("empty and analysed")
	k.exec(fill)
	k.try("full, with the plans of the empty table")
	k.exec("ANALYZE job")
	k.try("full and analysed")
	k.exec("DELETE FROM job WHERE kind = 'test.full'")
	k.try("bloated, with the plans of the full table")
	k.exec("ANALYZE job")
	k.try("bloated and analysed")
	k.exec(fill)
	k.open(db.URL)
	k.try("bloated and full, in new sessions")
}

// open opens new sessions, which have no plans.
func (k *keyed) open(url string) {
	k.Helper()
	k.sessions = nil
	for _, role := range []string{postgres.App, postgres.System} {
		one, err := postgres.Open(k.Context(), postgres.Options{URL: url, Role: role, MaxConns: 1, Name: "keyed"})
		if err != nil {
			k.Fatal(err)
		}
		k.Cleanup(one.Close)
		k.sessions = append(k.sessions, one)
	}
	k.store = store.New(k.sessions[0], k.sessions[1])
	k.batch, k.operator = store.NewBatchCompleter(k.store), operator.New(k.store, nil)
}

// try makes each call often enough that the server keeps its plan, and checks what the last ones read. A page that a
// scan is the first to clean, or to mark entries of, is read for the others.
func (k *keyed) try(table string) {
	k.Helper()
	for _, c := range k.calls() {
		least := 0
		for i := range 8 {
			read := k.call(c)
			if i == 0 || read < least {
				least = read
			}
		}
		if least > c.most {
			k.Errorf("%s: %s reads %d buffers, want %d at most", table, c.name, least, c.most)
		}
	}
}

// call makes one call for a job of its own and returns how many buffers of job it read.
func (k *keyed) call(c keyedCall) int {
	k.Helper()
	job := id.New()
	k.exec("INSERT INTO job (org_id, id, kind, args, lane, max_attempts) "+
		"VALUES ($1, $2, 'test.one', '{}', 'default', 3)",
		k.org, job)
	k.exec("UPDATE job SET "+c.row+" WHERE org_id = $1 AND id = $2", k.org, job)
	var run *queue.Claimed
	var err error
	if c.claim {
		if run, err = k.store.Claim(k.Context(), k.org, job); err != nil {
			k.Fatal(err)
		}
	}
	before := k.buffers()
	if err := c.do(k.Context(), k.org, job, run); err != nil {
		k.Fatalf("%s: %v", c.name, err)
	}
	read := k.buffers() - before
	k.exec("DELETE FROM job WHERE org_id = $1 AND id = $2", k.org, job)
	return read
}

// buffers returns how many buffers of job all sessions but the superuser's have read, once they have said so.
func (k *keyed) buffers() (n int) {
	k.Helper()
	for _, db := range k.sessions {
		if err := db.ReadTx(k.Context(), k.org, func(tx *postgres.Tx) error {
			tx.Queue("SELECT pg_stat_force_next_flush()")
			return nil
		}); err != nil {
			k.Fatal(err)
		}
	}
	k.exec("SELECT pg_stat_force_next_flush()")
	if err := k.sql.QueryRow(k.Context(), `SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read
		FROM pg_statio_user_tables WHERE relname = 'job'`).Scan(&n); err != nil {
		k.Fatal(err)
	}
	return n
}

func (k *keyed) exec(sql string, args ...any) {
	k.Helper()
	if _, err := k.sql.Exec(k.Context(), sql, args...); err != nil {
		k.Fatalf("%s: %v", sql, err)
	}
}
