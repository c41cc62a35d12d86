package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// Redrive reruns all dead jobs that match a filter, at a limited rate. It is a row that a separate job processes, so it
// survives crashes. It ends when no job matches any more or when it is cancelled.
type Redrive struct {
	ID        id.ID      `json:"id"`
	Actor     string     `json:"actor"`
	Reason    string     `json:"reason"`
	Filter    Filter     `json:"filter"`
	Rate      int        `json:"rate"`  // jobs per second
	Total     int        `json:"total"` // matching jobs at the start
	Done      int        `json:"done"`
	CreatedAt time.Time  `json:"created_at"`
	SteppedAt time.Time  `json:"stepped_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Cancelled bool       `json:"cancelled"`
}

// MaxRate is the highest rate of a redrive, in jobs per second.
const MaxRate = 10_000

// Errors of StartRedrive and DropMatching.
var (
	ErrRate       = fmt.Errorf("rate must be from 1 to %d jobs per second", MaxRate)
	ErrNotDead    = errors.New("only dead jobs can be redriven")
	ErrUnfiltered = errors.New("a filter is required: kind, lane, org, error, after or before")
)

// StartRedrive stores a redrive of the dead jobs that match f. ask adds the job that processes it
// (jobs/platformredrive) in the same transaction.
func (o *Operator) StartRedrive(ctx context.Context, by By, f Filter, rate int,
	ask func(context.Context, *postgres.Tx, id.ID) error,
) (*Redrive, error) {
	switch {
	case rate < 1 || rate > MaxRate:
		return nil, ErrRate
	case !f.hasDead():
		return nil, ErrNotDead
	}
	f.State, f.Kind = Dead, o.store.Aliases.Name(f.Kind) // a worker of the previous release knows the name alone
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode filter: %w", err)
	}
	r := &Redrive{ID: id.New(), Actor: by.Actor, Reason: by.Reason, Filter: f, Rate: rate}
	q := o.countQuery(f)
	err = o.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		if err := tx.QueryRow(ctx, q.sql, q.args, &r.Total); err != nil {
			return err
		}
		tx.Queue(`INSERT INTO job_redrive (id, actor, reason, filter, rate, total) VALUES ($1, $2, $3, $4, $5, $6)
			RETURNING created_at, stepped_at`,
			r.ID, r.Actor, r.Reason, string(text), r.Rate, r.Total).QueryRow(func(row pgx.Row) error {
			return row.Scan(&r.CreatedAt, &r.SteppedAt)
		})
		by.Scope = string(text)
		writeAudit(tx, by, "redrive.start", r.Total)
		return ask(ctx, tx, r.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("start redrive: %w", err)
	}
	return r, nil
}

// redriveSQL is T12 for many jobs. They wait for the feeder, which is fair and keeps Redis small.
var redriveSQL = fmt.Sprintf(free, " AND job.state IN ('dead', '')", `
	UPDATE job SET `+revive+`, wake_at = NULL, due = true
	FROM free WHERE job.ctid = free.at`)

// catchUp limits how many seconds of its rate a redrive makes up for after its worker paused.
const catchUp = 2.0

// StepRedrive redrives as many jobs as the rate allows now, at most one batch. full reports that the rate allows more
// at once; more reports that the redrive is not over. Concurrent calls share the one rate.
func (o *Operator) StepRedrive(ctx context.Context, which id.ID) (full, more bool, err error) {
	err = o.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		full, more, err = o.redriveStep(ctx, tx, which)
		return err
	})
	if err != nil {
		return false, false, fmt.Errorf("redrive: %w", err)
	}
	return full, more, nil
}

func (o *Operator) redriveStep(ctx context.Context, tx *postgres.Tx, which id.ID) (full, more bool, err error) {
	var (
		r       Redrive
		text    []byte
		elapsed float64
	)
	err = tx.QueryRow(ctx,
		`SELECT actor, reason, filter, rate, created_at, extract(epoch FROM clock_timestamp() - stepped_at)::float8
FROM job_redrive WHERE id = $1 AND ended_at IS NULL FOR UPDATE`, []any{which}, &r.Actor, &r.Reason, &text, &r.Rate,
		&r.CreatedAt, &elapsed)
	if postgres.None(err) {
		return false, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r.Filter)
	}
	if err != nil {
		return false, false, err
	}
	if elapsed < 0 { // Postgres's clock was set back
		tx.Queue(`UPDATE job_redrive SET stepped_at = clock_timestamp() WHERE id = $1`, which)
		return false, true, nil
	}
	lost := max(elapsed-catchUp, 0)
	due := int((elapsed - lost) * float64(r.Rate))
	n := min(due, actBatch)
	if n < 1 {
		return false, true, nil
	}
	if r.Filter.Before == nil || r.Filter.Before.After(r.CreatedAt) {
		r.Filter.Before = &r.CreatedAt // a job that dies again stays dead
	}
	jobs, err := o.searchJobs(ctx, tx, r.Filter, n, nil, true)
	if err != nil {
		return false, false, err
	}
	if len(jobs) == 0 {
		tx.Queue(`UPDATE job_redrive SET ended_at = clock_timestamp() WHERE id = $1`, which)
		return false, false, nil
	}
	orgs, ids := make([]id.ID, len(jobs)), make([]id.ID, len(jobs))
	for i, j := range jobs {
		orgs[i], ids[i] = j.Org, j.ID
	}
	tx.Queue(store.ByKeysSQL)
	answer, err := tx.Query(ctx, redriveSQL, orgs, ids, id.New(), r.Actor, "redrive", "redrive "+which.String(),
		r.Reason)
	if err != nil {
		return false, false, err
	}
	rows, err := pgx.CollectRows(answer, func(row pgx.CollectableRow) (t touched, err error) {
		return t, row.Scan(t.scanTargets()...)
	})
	if err != nil {
		return false, false, err
	}
	moved := len(rows)
	used := lost + float64(moved)/float64(r.Rate)
	tx.Queue(
		`UPDATE job_redrive SET done = done + $2, stepped_at = stepped_at + make_interval(secs => $3) WHERE id = $1`,
		which, moved, used)
	return moved == actBatch && due > n, true, o.runHooks(ctx, tx, actRun, rows)
}

// CancelRedrive ends a running redrive. It returns false if the redrive has ended or does not exist. Jobs that were
// redriven stay redriven.
func (o *Operator) CancelRedrive(ctx context.Context, by By, which id.ID) (bool, error) {
	by.Scope = "redrive " + which.String()
	n, err := o.execAudited(ctx, by, "redrive.cancel",
		`UPDATE job_redrive SET ended_at = clock_timestamp(), cancelled = true WHERE id = $6 AND ended_at IS NULL`,
		which)
	return n > 0, err
}

// Redrives returns the newest 100 redrives.
func (o *Operator) Redrives(ctx context.Context) ([]Redrive, error) {
	return collectRows(ctx, o, "list redrives", func(row pgx.CollectableRow) (r Redrive, err error) {
		var text []byte
		err = row.Scan(&r.ID, &r.Actor, &r.Reason, &text, &r.Rate, &r.Total, &r.Done, &r.CreatedAt, &r.SteppedAt,
			&r.EndedAt, &r.Cancelled)
		if err == nil {
			err = json.Unmarshal(text, &r.Filter)
		}
		return r, err
	}, `SELECT id, actor, reason, filter, rate, total, done, created_at, stepped_at, ended_at, cancelled
		FROM job_redrive ORDER BY id DESC LIMIT 100`)
}
