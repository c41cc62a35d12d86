package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	heldMinutes     = 30
	heldRate        = 100 // contacts per second
	heldConnections = 16
	heldOrgs        = 10
	heldDead        = 500_000 // rows of ended jobs that are put in
	heldBurst       = 20 * time.Second
)

// deadJobsSQL adds jobs as they are with a slot, in the last hour. Every second one has a concurrency key.
const deadJobsSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, line, wake_at)
SELECT ($1::uuid[])[1 + g % cardinality($1::uuid[])], uuidv7_at(now()), 'webhook.deliver', '{}', 'webhooks', 3, now(),
	CASE WHEN g % 2 = 0 THEN gen_random_uuid() END, now() - g * interval '7 ms'
FROM generate_series(1, $2) AS g`

// held posts contacts at a steady rate while an old snapshot keeps the rows of all ended jobs, and compares the answers
// and the rate with those before.
func held(ctx context.Context, log *slog.Logger, minutes int) error {
	w, err := newWorldOn(ctx, log, heldOrgs, startCounting(log))
	if err != nil {
		return err
	}
	defer w.close()
	s, err := prepareWay(ctx, w, 0)
	if err != nil {
		return err
	}
	if s.api, err = w.start(ctx, "api", "FUNNELWORK_RATE_LIMIT=off"); err != nil {
		return err
	}
	if s.worker, err = w.start(ctx, "worker"); err != nil {
		return err
	}
	crowd := newCrowd(w.orgs, new(atomic.Int64), heldConnections)
	post := newClients(s.api.addr, heldConnections).poster(crowd)
	at := func(title string, rate int, length time.Duration) (took []time.Duration, perSecond float64, err error) {
		began := time.Now()
		took, err = open(ctx, rate, length, heldConnections, func(worker, _ int) error { return post(ctx, worker) })
		perSecond = float64(len(took)) / time.Since(began).Seconds()
		if err == nil {
			percentiles(fmt.Sprintf("POST contact, %s, %d per second, %.0f done", title, rate, perSecond), took)
		}
		return took, perSecond, err
	}
	const flood = 5000 // per second: more than can be done
	if _, _, err = at("warm", heldRate, heldBurst); err != nil {
		return err
	}
	clean, _, err := at("clean", heldRate, time.Minute)
	if err != nil {
		return err
	}
	_, before, err := at("clean", flood, heldBurst/10)
	if err != nil {
		return err
	}
	snapshot, err := s.holdSnapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Rollback(context.WithoutCancel(ctx)) }()
	var during []time.Duration
	for minute := range minutes {
		if err := s.countStatements(ctx); err != nil {
			return err
		}
		took, _, err := at(fmt.Sprintf("held, minute %d", minute+1), heldRate, time.Minute)
		if err != nil {
			return err
		}
		during = append(during, took...)
		if minute == 0 || minute == minutes-1 {
			if err := s.printStatements(ctx, os.Stdout, time.Minute); err != nil {
				return err
			}
		}
	}
	_, after, err := at("held", flood, heldBurst/10)
	if err != nil {
		return err
	}
	slices.Sort(during)
	verdict(os.Stdout, "rate with a held snapshot at least 0.9 of the rate without", after >= .9*before,
		fmt.Sprintf("%.0f of %.0f per second, %.2f", after, before, after/before))
	most := 2*quantile(clean, .99) + 20*time.Millisecond
	verdict(os.Stdout, "p99 at most twice the one without, and 20 ms", quantile(during, .99) <= most,
		fmt.Sprintf("%s, at most %s", short(quantile(during, .99)), short(most)))
	return nil
}

// holdSnapshot opens a snapshot, and lets many jobs end that it may still see.
func (s *way) holdSnapshot(ctx context.Context) (snapshot pgx.Tx, err error) {
	conn, err := pgx.Connect(ctx, s.postgres.URL)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { _ = conn.Close(context.WithoutCancel(ctx)) })
	snapshot, err = conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return nil, err
	}
	if _, err = snapshot.Exec(ctx, `SELECT count(*) FROM org`); err != nil {
		return nil, err
	}
	// In one transaction, so that the relay finds none of them.
	return snapshot, pgx.BeginFunc(ctx, s.admin, func(tx pgx.Tx) error {
		_, added := tx.Exec(ctx, deadJobsSQL, s.orgIDs(), heldDead)
		_, ended := tx.Exec(ctx, `DELETE FROM job WHERE args::text = '{}'`)
		return errors.Join(added, ended)
	})
}
