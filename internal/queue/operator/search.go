package operator

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Search returns up to limit jobs that match f, newest first, starting after the cursor. next is the cursor of the next
// page, nil after the last page.
func (o *Operator) Search(ctx context.Context, f Filter, limit int, after *Place) (jobs []Job, next *Place, err error) {
	err = o.store.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		jobs, err = o.searchJobs(ctx, tx, f, limit+1, after, false)
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

func (o *Operator) searchJobs(ctx context.Context, tx *postgres.Tx, f Filter, limit int, after *Place,
	oldest bool,
) ([]Job, error) {
	if !f.hasDead() {
		return o.fetchJobs(ctx, tx, o.openQuery(f, limit, after, oldest))
	}
	if f.Error == "" {
		q := o.deadQuery(f, after, oldest)
		q.sql = `SELECT` + columns + `, d.died_at FROM (
	SELECT d.org_id, d.id, d.died_at FROM job_death d` + q.where() + q.order + ` LIMIT ` + q.arg(limit) + `) AS d
JOIN job ON job.org_id = d.org_id AND job.id = d.id` + q.order
		return o.fetchJobs(ctx, tx, q)
	}
	// An index-only scan covers every condition of f but the text. The texts of the recent jobs are then read by key.
	q := o.deadQuery(f, after, oldest)
	q.sql = `WITH d AS MATERIALIZED (
	SELECT d.org_id, d.id, d.died_at FROM job_death d` + q.where() + q.order + ` LIMIT ` + q.arg(o.recent) + `
), hit AS MATERIALIZED (
	SELECT d.org_id, d.id, d.died_at FROM d
	CROSS JOIN LATERAL (SELECT error FROM job_death AS text WHERE text.org_id = d.org_id
	AND text.id = d.id OFFSET 0) AS said
	WHERE position(` + q.textSQL(f.Error) + ` IN said.error) > 0` + q.order + ` LIMIT ` + q.arg(limit) + `
)
SELECT` + columns + `, d.died_at FROM hit AS d JOIN job ON job.org_id = d.org_id AND job.id = d.id` + q.order
	jobs, err := o.fetchJobs(ctx, tx, q)
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
		q.and(`job_grams(d.error) @> job_grams(` + q.textSQL(f.Error) + `)`)
	}
	q.and(`position(` + q.textSQL(f.Error) + ` IN d.error) > 0`)
	q.sql = `WITH d AS MATERIALIZED (SELECT d.org_id, d.id, d.died_at FROM job_death d` + q.where() + `),
hit AS MATERIALIZED (SELECT d.org_id, d.id, d.died_at FROM d` + q.order + ` LIMIT ` + q.arg(limit) + `)
SELECT` + columns + `, d.died_at FROM hit AS d JOIN job ON job.org_id = d.org_id AND job.id = d.id` + q.order
	return o.fetchJobs(ctx, tx, q)
}

func (o *Operator) fetchJobs(ctx context.Context, tx *postgres.Tx, q *query) ([]Job, error) {
	rows, err := tx.Query(ctx, q.sql, q.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (j Job, err error) {
		err = row.Scan(j.scanTargets()...)
		j.Kind = o.store.Aliases.Name(j.Kind)
		return j, err
	})
}
