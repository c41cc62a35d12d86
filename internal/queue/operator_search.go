package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// State is a job's state as operators see it.
type State string

// The states. Open is every state but Dead.
const (
	Waiting State = "waiting" // for its due time or a slot
	Retry   State = "retry"   // waiting after a failure
	Queued  State = "pushed"  // in Redis or about to be
	Running State = "running"
	Dead    State = "dead"
	Open    State = "open"
)

// States returns the states that can be searched for.
func States() []State { return []State{Waiting, Retry, Queued, Running, Dead, Open} }

// Filter selects jobs. A job must match every field that is set.
type Filter struct {
	State State  `json:"state,omitempty"` // "" means Dead
	Kind  string `json:"kind,omitempty"`  // the kind's name or its alias
	Lane  Lane   `json:"lane,omitempty"`
	Org   *id.ID `json:"org_id,omitempty"`
	// Error is a part of the last error. The match ignores ASCII case.
	Error string `json:"error,omitempty"`
	// After (inclusive) and Before (exclusive) limit when a dead job died, and when an open job was added.
	After  *time.Time `json:"after,omitempty"`
	Before *time.Time `json:"before,omitempty"`
}

// ErrFilter reports an invalid filter.
var ErrFilter = errors.New("unknown filter")

// Check validates a filter from outside.
func (f Filter) Check() error {
	if f.State != "" && !slices.Contains(States(), f.State) {
		return fmt.Errorf("%w: state is one of %v", ErrFilter, States())
	}
	if f.Lane != "" && !slices.Contains(Lanes(), f.Lane) {
		return fmt.Errorf("%w: lane is one of %v", ErrFilter, Lanes())
	}
	for _, text := range []string{f.Kind, f.Error} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > 2000 {
			return fmt.Errorf("%w: text must be UTF-8 of at most 2000 bytes", ErrFilter)
		}
	}
	if f.Error != "" && len(f.Error) < shortest {
		return fmt.Errorf("%w: error text must have at least %d bytes", ErrFilter, shortest)
	}
	return nil
}

func (f Filter) dead() bool { return f.State == "" || f.State == Dead }

// Job is a job as operators see it.
type Job struct {
	ID          id.ID           `json:"id"`
	Org         id.ID           `json:"org_id"`
	Kind        string          `json:"kind"`
	Lane        Lane            `json:"lane"`
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

// Place is the cursor of a search.
type Place struct {
	At time.Time `json:"at"`
	ID id.ID     `json:"id"`
}

// locked is true for a job with a slot and a row lock held by an open transaction: the run of a Tx kind, which has no
// owner, or briefly a scan of the row. The row's xmax is that transaction, and each transaction locks its own id, so
// pg_locks shows it. The check takes no lock, because a claim would skip a locked row.
const locked = ` (job.wake_at IS NOT NULL AND job.state = 'ready' AND job.xmax IN (SELECT transactionid
	FROM pg_locks WHERE locktype = 'transactionid' AND granted))`

const columns = ` job.id, job.org_id, job.kind, job.lane,
	CASE WHEN job.state = 'dead' THEN 'dead' WHEN job.owner IS NOT NULL OR` + locked +
	` THEN 'running' WHEN job.wake_at IS NOT NULL THEN 'pushed'
		WHEN job.attempt > 0 THEN 'retry' ELSE 'waiting' END,
	job.attempt, job.max_attempts, job.losses, job.run_at, job.wake_at, job.created_at, job.last_error,
	job.dedupe_key, job.dispatch`

func (j *Job) fields() []any {
	return []any{
		&j.ID, &j.Org, &j.Kind, &j.Lane, &j.State, &j.Attempt, &j.MaxAttempts, &j.Losses, &j.RunAt, &j.WakeAt,
		&j.CreatedAt,
		&j.LastError, &j.DedupeKey, &j.Dispatch, &j.DiedAt,
	}
}

// recent is how many of the newest dead jobs are scanned for an error text before the text index is used. Common texts
// are found in the scan. For rare texts the index returns few rows, which are cheap to sort.
const recent = 5_000

// shortest is the length in bytes of the shortest error text that can be searched for: the length of the grams in the
// text index. A shorter text would need a scan of all texts.
const shortest = 3

// Search returns up to limit jobs that match f, newest first, starting after the cursor. next is the cursor of the next
// page, nil after the last page.
func (o *Operator) Search(ctx context.Context, f Filter, limit int, after *Place) (jobs []Job, next *Place, err error) {
	err = o.ledger.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		jobs, err = o.search(ctx, tx, f, limit+1, after, false)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("search jobs: %w", err)
	}
	if len(jobs) > limit {
		jobs = jobs[:limit]
		last := jobs[limit-1]
		next = &Place{At: last.CreatedAt, ID: last.ID}
		if last.DiedAt != nil {
			next.At = *last.DiedAt
		}
	}
	return jobs, next, nil
}

func (o *Operator) search(ctx context.Context, tx *postgres.Tx, f Filter, limit int, after *Place,
	oldest bool,
) ([]Job, error) {
	if !f.dead() {
		return o.fetch(ctx, tx, o.openQuery(f, limit, after, oldest))
	}
	if f.Error == "" {
		q := o.deadQuery(f, after, oldest)
		q.sql = `SELECT` + columns + `, d.died_at FROM (
	SELECT d.org_id, d.id, d.died_at FROM job_death d` + q.where() + q.order + ` LIMIT ` + q.arg(limit) + `) AS d
JOIN job ON job.org_id = d.org_id AND job.id = d.id` + q.order
		return o.fetch(ctx, tx, q)
	}
	// An index-only scan covers every condition of f but the text. The texts of the recent jobs are then read by key.
	q := o.deadQuery(f, after, oldest)
	q.sql = `WITH d AS MATERIALIZED (
	SELECT d.org_id, d.id, d.died_at FROM job_death d` + q.where() + q.order + ` LIMIT ` + q.arg(o.recent) + `
), hit AS MATERIALIZED (
	SELECT d.org_id, d.id, d.died_at FROM d
	CROSS JOIN LATERAL (SELECT error FROM job_death AS text WHERE text.org_id = d.org_id
	AND text.id = d.id OFFSET 0) AS said
	WHERE position(` + q.text(f.Error) + ` IN said.error) > 0` + q.order + ` LIMIT ` + q.arg(limit) + `
)
SELECT` + columns + `, d.died_at FROM hit AS d JOIN job ON job.org_id = d.org_id AND job.id = d.id` + q.order
	jobs, err := o.fetch(ctx, tx, q)
	if err != nil || len(jobs) == limit {
		return jobs, err
	}
	q = o.deadQuery(f, after, oldest)
	var more bool
	sql := `SELECT EXISTS (SELECT FROM job_death d` + q.where() + q.order + ` OFFSET ` + q.arg(o.recent) + `)`
	if err := tx.QueryRow(ctx, sql, q.args, &more); err != nil || !more {
		return jobs, err
	}
	q = o.deadQuery(f, after, oldest)
	if len(f.Error) >= shortest {
		q.and(`job_grams(d.error) @> job_grams(` + q.text(f.Error) + `)`)
	}
	q.and(`position(` + q.text(f.Error) + ` IN d.error) > 0`)
	q.sql = `WITH d AS MATERIALIZED (SELECT d.org_id, d.id, d.died_at FROM job_death d` + q.where() + `),
hit AS MATERIALIZED (SELECT d.org_id, d.id, d.died_at FROM d` + q.order + ` LIMIT ` + q.arg(limit) + `)
SELECT` + columns + `, d.died_at FROM hit AS d JOIN job ON job.org_id = d.org_id AND job.id = d.id` + q.order
	return o.fetch(ctx, tx, q)
}

// query builds SQL together with its arguments.
type query struct {
	sql   string
	terms []string
	args  []any
	order string
}

func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// text returns the SQL of an error text to search for, in lower case like the stored texts.
func (q *query) text(part string) string { return `lower(` + q.arg(part) + `::text COLLATE "C")` }

func (q *query) and(term string) { q.terms = append(q.terms, term) }

func (q *query) where() string {
	if len(q.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.terms, " AND ")
}

func (o *Operator) deadQuery(f Filter, after *Place, oldest bool) *query {
	q := &query{order: " ORDER BY d.died_at DESC, d.id DESC"}
	past := "<"
	if oldest {
		q.order, past = " ORDER BY d.died_at, d.id", ">"
	}
	q.common(f, o.ledger.Aliases, "d", "d.died_at")
	if after != nil {
		q.and(`(d.died_at, d.id) ` + past + ` (` + q.arg(after.At) + `, ` + q.arg(after.ID) + `)`)
	}
	return q
}

func (q *query) common(f Filter, aliases Aliases, table, at string) {
	if f.Org != nil {
		q.and(table + `.org_id = ` + q.arg(*f.Org))
	}
	if names := aliases.Names(f.Kind); f.Kind != "" && len(names) == 1 {
		q.and(table + `.kind = ` + q.arg(f.Kind))
	} else if f.Kind != "" {
		q.and(table + `.kind = ANY (` + q.arg(names) + `::text[])`)
	}
	if f.Lane != "" {
		q.and(table + `.lane = ` + q.arg(string(f.Lane)))
	}
	if f.After != nil {
		q.and(at + ` >= ` + q.arg(*f.After))
	}
	if f.Before != nil {
		q.and(at + ` < ` + q.arg(*f.Before))
	}
}

func (o *Operator) openQuery(f Filter, limit int, after *Place, oldest bool) *query {
	q := &query{order: " ORDER BY job.id DESC"}
	past := "<"
	if oldest {
		q.order, past = " ORDER BY job.id", ">"
	}
	q.and(`job.state = 'ready'`)
	switch f.State {
	case Waiting:
		q.and(`job.wake_at IS NULL AND job.attempt = 0`)
	case Retry:
		q.and(`job.wake_at IS NULL AND job.attempt > 0`)
	case Queued:
		q.and(`job.wake_at IS NOT NULL AND job.owner IS NULL AND NOT` + locked)
	case Running:
		q.and(`job.wake_at IS NOT NULL AND (job.owner IS NOT NULL OR` + locked + `)`)
	case Open, Dead:
	}
	q.common(f, o.ledger.Aliases, "job", "job.created_at")
	if f.Error != "" {
		q.and(`position(` + q.text(f.Error) + ` IN lower(job.last_error COLLATE "C")) > 0`)
	}
	if after != nil {
		q.and(`job.id ` + past + q.arg(after.ID))
	}
	q.sql = `SELECT` + columns + `, NULL::timestamptz FROM job` + q.where() + q.order + ` LIMIT ` + q.arg(limit)
	return q
}

func (o *Operator) fetch(ctx context.Context, tx *postgres.Tx, q *query) ([]Job, error) {
	rows, err := tx.Query(ctx, q.sql, q.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (j Job, err error) {
		err = row.Scan(j.fields()...)
		j.Kind = o.ledger.Aliases.Name(j.Kind)
		return j, err
	})
}

// Show returns one job with its arguments, which are ids. It returns nil if the job does not exist.
func (o *Operator) Show(ctx context.Context, k Key) (*Job, error) {
	var j Job
	err := o.ledger.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT`+columns+
				`, d.died_at, job.args FROM job LEFT JOIN job_death d ON d.org_id = job.org_id AND d.id = job.id
WHERE job.org_id = $1 AND job.id = $2`, []any{k.Org, k.ID}, append(j.fields(), &j.Args)...)
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // no job is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("show job: %w", err)
	}
	j.Kind = o.ledger.Aliases.Name(j.Kind)
	return &j, nil
}

// locateSQL steps from org to org, because the primary key begins with the org. An index by id alone would make every
// insert more expensive.
const locateSQL = `
WITH RECURSIVE o (org_id) AS (
	(SELECT org_id FROM job ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT j.org_id FROM job j WHERE j.org_id > o.org_id ORDER BY j.org_id LIMIT 1) FROM o
	WHERE o.org_id IS NOT NULL
)
SELECT job.org_id, job.id FROM o JOIN job ON job.org_id = o.org_id AND job.id = ANY ($1::uuid[])`

// Locate finds jobs by id alone. Ids without a job are left out.
func (o *Operator) Locate(ctx context.Context, ids ...id.ID) ([]Key, error) {
	var keys []Key
	err := o.ledger.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, locateSQL, ids)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Key])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("locate jobs: %w", err)
	}
	slices.SortFunc(keys, func(a, b Key) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return keys, nil
}
