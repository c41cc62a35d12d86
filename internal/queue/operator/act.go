package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// actBatch is how many jobs one transaction changes.
const actBatch = 500

// The names of the actions in the audit.
const (
	actRun     = "run"
	actArchive = "archive"
	actDrop    = "drop"
)

// free locks the rows that may be changed. Like the statements by key of package store it looks up each row by its
// key. It skips rows that a run or another statement has locked; the caller retries those.
const free = `
WITH free AS MATERIALIZED (
	SELECT one.* FROM unnest($1::uuid[], $2::uuid[]) AS asked (org_id, id)
	CROSS JOIN LATERAL (
		SELECT job.ctid AS at, job.state FROM job
		WHERE job.org_id = asked.org_id AND job.id = asked.id AND job.owner IS NULL%s
		FOR UPDATE SKIP LOCKED
	) AS one
), acted AS (%s
	RETURNING` + store.RefColumns + `,` + store.NotPausedSQL + ` AS due, job.args
), noted AS (
	INSERT INTO job_act (id, actor, act, scope, jobs, count, reason)
	SELECT $3, $4, $5, $6, array_agg(acted.id), count(*), $7 FROM acted HAVING count(*) > 0
)
SELECT acted.* FROM acted`

// revive is what T12 sets on a row: a dead job starts over with no attempts and no losses.
const revive = `state = 'ready', run_at = now(),
	attempt = CASE WHEN free.state = 'dead' THEN 0 ELSE job.attempt END,
	losses = CASE WHEN free.state = 'dead' THEN 0 ELSE job.losses END`

var (
	// T12
	runNowSQL = fmt.Sprintf(free, "", `
	UPDATE job SET `+revive+`, wake_at = now()
	FROM free WHERE job.ctid = free.at`)
	// T13. Like every dead job it loses its dedupe key, so that it does not block its successors.
	archiveSQL = fmt.Sprintf(free, " AND job.state IN ('ready', '')", `
	UPDATE job SET state = 'dead', dedupe_key = NULL, run_at = now(), wake_at = now() + $8::interval, last_error = $9
	FROM free WHERE job.ctid = free.at`)
	// T14
	deleteSQL = fmt.Sprintf(free, "", `
	DELETE FROM job USING free WHERE job.ctid = free.at`)
)

// Run is T12: it makes the jobs due now. Paused jobs run when their pause ends. A dead job starts over. Run returns one
// result per key.
func (o *Operator) Run(ctx context.Context, by By, keys ...Key) ([]Result, error) {
	return o.applyAction(ctx, by, actRun, runNowSQL, keys, nil, o.enqueueRows)
}

// Archive is T13: it makes open jobs dead until an operator runs or drops them.
func (o *Operator) Archive(ctx context.Context, by By, keys ...Key) ([]Result, error) {
	said := "archived by " + by.Actor
	if by.Reason != "" {
		said += ": " + by.Reason
	}
	return o.applyAction(ctx, by, actArchive, archiveSQL, keys, []any{o.store.First, said}, o.archiveTasks)
}

// Drop is T14: it deletes the jobs. It requires a reason.
func (o *Operator) Drop(ctx context.Context, by By, keys ...Key) ([]Result, error) {
	if strings.TrimSpace(by.Reason) == "" {
		return nil, ErrUnreasoned
	}
	return o.applyAction(ctx, by, actDrop, deleteSQL, keys, nil, o.deleteTasks)
}

// runHooks calls the hooks for the rows that the named action changed, in the action's transaction.
func (o *Operator) runHooks(ctx context.Context, tx *postgres.Tx, name string, rows []touched) error {
	jobs := make([]store.Changed, len(rows))
	for i, t := range rows {
		jobs[i] = store.Changed{Org: t.Org, Kind: t.Kind, Args: t.args}
	}
	if name == actRun {
		return o.store.Hooks.RunRevived(ctx, tx, jobs)
	}
	return o.store.Hooks.RunStopped(ctx, tx, jobs)
}

func (o *Operator) applyAction(ctx context.Context, by By, name, sql string, keys []Key, more []any,
	tell func(context.Context, []touched),
) ([]Result, error) {
	out := make([]Result, len(keys))
	for from := 0; from < len(keys); from += actBatch {
		to := min(from+actBatch, len(keys))
		if err := o.applyBatch(ctx, by, name, sql, keys[from:to], out[from:to], more, tell); err != nil {
			return out, err
		}
	}
	return out, nil
}

// applyBatch changes the jobs of keys and fills in their results. The relay and the feeder lock rows for a moment, so
// batch retries locked rows. A row that stays locked is being run.
func (o *Operator) applyBatch(ctx context.Context, by By, name, sql string, keys []Key, out []Result, more []any,
	tell func(context.Context, []touched),
) error {
	for try := 0; ; try++ {
		at := make(map[Key]bool)
		var orgs, ids []id.ID
		for i, k := range keys {
			if out[i] == "" && !at[k] {
				at[k] = true
				orgs, ids = append(orgs, k.Org), append(ids, k.ID)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		var rows []touched
		met := make(map[Key]Result)
		err := o.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(store.ByKeysSQL)
			args := append([]any{orgs, ids, id.New(), by.Actor, name, by.Scope, by.Reason}, more...)
			tx.Queue(sql, args...).Query(func(r pgx.Rows) error {
				var t touched
				_, err := pgx.ForEachRow(r, t.scanTargets(), func() error {
					rows, met[Key{t.Org, t.ID}] = append(rows, t), Acted
					t.args = nil // the next scan must not overwrite this row's array
					return nil
				})
				return err
			})
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			return o.runHooks(ctx, tx, name, rows)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(rows) < len(ids) {
			if err := o.explainUnchanged(ctx, name, orgs, ids, met); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		for i, k := range keys {
			if r := met[k]; out[i] == "" && (r != "" || try == len(patience)) {
				out[i] = Held
				if r != "" {
					out[i] = r
				}
			}
		}
		tell(ctx, rows)
		if try == len(patience) {
			return nil
		}
		if len(met) < len(ids) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(patience[try]):
			}
		}
	}
}

// patience is the waits of an action between its tries for locked rows.
var patience = [...]time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}

const whySQL = `
SELECT asked.org_id, asked.id, one.state IS NULL, one.run, one.state = 'dead'
FROM unnest($1::uuid[], $2::uuid[]) AS asked (org_id, id)
LEFT JOIN LATERAL (
	SELECT job.state, job.owner IS NOT NULL AS run FROM job
	WHERE job.org_id = asked.org_id AND job.id = asked.id OFFSET 0
) AS one ON true`

// explainUnchanged fills in the results of the jobs that an action did not change. It leaves out jobs that were only
// locked.
func (o *Operator) explainUnchanged(ctx context.Context, name string, orgs, ids []id.ID, met map[Key]Result) error {
	return o.store.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(store.ByKeysSQL)
		tx.Queue(whySQL, orgs, ids).Query(func(rows pgx.Rows) error {
			var k Key
			var gone bool
			var run, dead *bool
			_, err := pgx.ForEachRow(rows, []any{&k.Org, &k.ID, &gone, &run, &dead}, func() error {
				switch {
				case met[k] != "":
				case gone:
					met[k] = Gone
				case *run:
					met[k] = Held
				case *dead && name == actArchive:
					met[k] = Unfit
				}
				return nil
			})
			return err
		})
		return nil
	})
}
