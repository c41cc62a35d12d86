package main

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

const (
	// settledFor is how long there must be no work left. The timetable's own jobs are at most settledJobs.
	settledFor  = 10 * time.Second
	settledJobs = 20
)

// settle gives all orgs what a signup gives them beside their rows: the limits of their plan. The product settles the
// first org, and the others get a copy. Otherwise the sweep of the plans would settle them, 2,000 a minute.
func (w *world) settle(ctx context.Context) error {
	db, err := postgres.Open(ctx, postgres.Options{URL: w.postgres.URL, Role: postgres.App, Name: "bench"})
	if err != nil {
		return err
	}
	defer db.Close()
	first := w.orgs[0].org
	catalogue := entitlementsync.Standard()
	if err := db.Tx(ctx, first, func(tx *postgres.Tx) error { return catalogue.Settle(ctx, tx) }); err != nil {
		return err
	}
	for _, sql := range []string{
		`INSERT INTO quota (org_id, feature, cap, overage, used, told)
		SELECT o.id, q.feature, q.cap, q.overage, q.used, q.told FROM quota q, org o
		WHERE q.org_id = $1 AND o.id <> $1`,
		`UPDATE subscription s SET plan_version = f.plan_version, entitlement_version = f.entitlement_version
		FROM subscription f WHERE f.org_id = $1 AND s.org_id <> $1`,
		`UPDATE org o SET plan = f.plan, rate_per_minute = f.rate_per_minute, writes_until = f.writes_until
		FROM org f WHERE f.id = $1 AND o.id <> $1
			AND (o.plan, o.rate_per_minute, o.writes_until)
				IS DISTINCT FROM (f.plan, f.rate_per_minute, f.writes_until)`,
	} {
		if _, err := w.admin.Exec(ctx, sql, first); err != nil {
			return err
		}
	}
	return nil
}

// workLeft waits for the end of the work that the start and new contacts leave to the worker, and prints how long that
// took.
func (x *exchange) workLeft(ctx context.Context) error {
	began := time.Now()
	over := began
	for time.Since(over) < settledFor {
		var jobs, plans, overviews int
		if err := x.admin.QueryRow(ctx, `SELECT
			(SELECT count(*) FROM job WHERE state <> 'dead' AND run_at <= now()),
			(SELECT count(*) FROM subscription WHERE plan_version = ''),
			(SELECT count(*) FROM overview_state WHERE look_at <= now())`).Scan(&jobs, &plans, &overviews); err != nil {
			return err
		}
		if jobs > settledJobs || plans > 0 || overviews > settledJobs {
			over = time.Now()
		}
		if err := pause(ctx, time.Second); err != nil {
			return fmt.Errorf("%d jobs, %d plans and %d overviews are left still: %w", jobs, plans, overviews, err)
		}
	}
	fmt.Printf("work that the start and the contacts left: %s\n", over.Sub(began).Round(time.Second))
	return nil
}
