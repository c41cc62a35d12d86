package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/migrations"
)

const (
	grantRows   = 1_000_000
	claimers    = 4
	claimSize   = 50
	claimRounds = 10
	claimSoon   = 5000 // grants per second
)

// tokens measures how fast four workers in batches of 50 claim due grants out of a million, while as many are claimed
// already. It compares with a plain round trip, and with the same claim with the lease in a separate column, whose
// leased rows every claim reads past.
func tokens(ctx context.Context, log *slog.Logger) error {
	pg, err := local.StartPostgres(ctx, local.PostgresOptions{Log: log})
	if err != nil {
		return err
	}
	defer func() { _ = pg.Stop(context.WithoutCancel(ctx)) }()
	if err := migrations.Up(ctx, pg.URL, log); err != nil {
		return err
	}
	admin, err := pgx.Connect(ctx, pg.URL)
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	fmt.Printf("making %d grants\n", grantRows)
	for _, sql := range []string{
		"SET synchronous_commit = off",
		fmt.Sprintf(`INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, sealed_access,
			sealed_refresh, granted_at, issued_at, access_expires_at, refresh_at)
			SELECT md5((g %% 50000)::text)::uuid, gen_random_uuid(), (ARRAY['x', 'tiktok', 'facebook', 'youtube',
			'linkedin'])[1 + g %% 5], 'social', CASE WHEN g %% 4 < 2 THEN 'moving' ELSE 'leasing' END, g::text,
				'\x01' || decode(repeat('00', 300), 'hex'), '\x01' || decode(repeat('00', 300), 'hex'), now(),
				now(), now() + interval '2 hours',
				CASE WHEN g %% 2 = 0 THEN now() - interval '1 hour'
				ELSE now() + interval '1 hour' END + g * interval '1 ms'
			FROM generate_series(1, %d) g`, grantRows),
		`ALTER TABLE social_grant ADD COLUMN lease_until timestamptz`,
		`CREATE TEMP TABLE head AS SELECT org_id, id FROM (SELECT org_id, id, row_number() OVER (PARTITION BY
			platform, client_id ORDER BY refresh_at) AS n FROM social_grant
			WHERE refresh_at < now()) AS g WHERE n <= 10000`,
		`UPDATE social_grant g SET refresh_at = CASE client_id WHEN 'moving' THEN now() + interval '1 hour'
			ELSE refresh_at END,
			lease_until = CASE client_id WHEN 'leasing' THEN now() + interval '1 hour' END FROM head
			WHERE g.org_id = head.org_id AND g.id = head.id`,
		"VACUUM ANALYZE social_grant",
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	system, err := postgres.Open(ctx,
		postgres.Options{URL: pg.URL, Role: postgres.System, MaxConns: claimers, Name: "bench"})
	if err != nil {
		return err
	}
	defer system.Close()
	r := social.NewRefresher(social.RefreshOptions{System: system, Log: log})
	var claimed atomic.Int64
	in := func(work func(tx *postgres.Tx) (int, error)) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			return system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
				n, err := work(tx)
				if claimed.Add(int64(n)); err == nil && n < claimSize {
					err = fmt.Errorf("only %d were due: the benchmark is too small for this machine", n)
				}
				return err
			})
		}
	}
	platforms := []string{"x", "tiktok", "facebook", "youtube", "linkedin"}
	contenders := []contender{
		{name: "a round trip and a commit, per grant", weight: 1, op: func(ctx context.Context, _ int) error {
			return system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
				_, err := tx.Exec(ctx, "SELECT 1")
				return err
			})
		}},
		{name: "claims that move the due time", weight: claimSize, op: in(func(tx *postgres.Tx) (int, error) {
			claims, err := r.ClaimDue(ctx, tx, platforms[rand.IntN(len(platforms))], "moving", claimSize, time.Hour)
			return len(claims), err
		})},
		{name: "claims with a lease of their own", weight: claimSize, op: in(func(tx *postgres.Tx) (int, error) {
			n, err := tx.Exec(ctx, `
				WITH due AS MATERIALIZED (
					SELECT org_id, id FROM social_grant
					WHERE platform = $1 AND client_id = 'leasing' AND status IN ('active', 'expiring')
					AND refresh_at <= now() AND (lease_until IS NULL OR lease_until < now())
					ORDER BY refresh_at LIMIT $2 FOR UPDATE SKIP LOCKED
				)
				UPDATE social_grant g SET lease_until = now() + interval '1 hour', version = g.version + 1
				FROM due WHERE g.org_id = due.org_id AND g.id = due.id`,
				platforms[rand.IntN(len(platforms))], claimSize)
			return int(n), err
		})},
	}
	results, err := match(ctx, contenders, claimers, claimRounds, 200*time.Millisecond)
	if err != nil {
		return err
	}
	table(os.Stdout,
		fmt.Sprintf(
			"grants claimed per second of %d, half of them due and 100,000 claimed, by %d workers in batches of %d",
			grantRows, claimers, claimSize), contenders, results)
	fmt.Printf("%d grants were claimed\n", claimed.Load())
	rate := perSecond(results[1])
	verdict(os.Stdout, fmt.Sprintf("at least %d claims per second", claimSoon), rate.mid >= claimSoon, rate.String())
	return nil
}
