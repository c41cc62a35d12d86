package social

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// claimSQL claims due grants of one platform and client id, the longest overdue first. It moves refresh_at itself to
// the end of the claim, so that claimed rows leave the head of the index and later scans do not read past them. It
// skips rows that are locked. No index is read up to clock_timestamp(): the scan would go on over all that are not due.
const claimSQL = `
WITH due AS MATERIALIZED (
	SELECT org_id, id FROM social_grant
	WHERE platform = $1 AND client_id = $2 AND status IN ('active', 'expiring')
	AND refresh_at <= coalesce($3::timestamptz, statement_timestamp())
	ORDER BY refresh_at LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE social_grant g SET refresh_at = coalesce($3::timestamptz, clock_timestamp()) + $5::interval, version =
g.version + 1,
	status = CASE WHEN g.access_expires_at <= coalesce($3::timestamptz, clock_timestamp()) THEN 'expiring'
	ELSE g.status END
FROM due WHERE g.org_id = due.org_id AND g.id = due.id
RETURNING g.org_id, g.id, g.version`

// ClaimDue claims at most n due grants of a platform and client id for the duration of lease. tx runs as System.
func (r *Refresher) ClaimDue(ctx context.Context, tx *postgres.Tx, platform, client string, n int,
	lease time.Duration,
) ([]Claim, error) {
	rows, err := tx.Query(ctx, claimSQL, platform, client, r.clock(), n, lease)
	if err != nil {
		return nil, fmt.Errorf("claim grants: %w", err)
	}

	claims, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Claim, err error) {
		err = row.Scan(&c.Org, &c.Grant, &c.Version)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("claim grants: %w", err)
	}

	return claims, nil
}

const (
	horizon    = 20 * time.Second // how far ahead request slots are assigned: two sweeps
	claimBatch = 500              // grants per transaction
)

// Sweep claims due grants, as many as the request budgets let start within the next 20 s. It calls ask for each claim,
// in the claiming transaction, to enqueue the claim's job. It returns the number of claims. Sweeps may overlap: only
// one at a time assigns the request slots of an application.
func (r *Refresher) Sweep(ctx context.Context,
	ask func(ctx context.Context, tx *postgres.Tx, c Claim) error,
) (claimed int, err error) {
	pairs, err := r.readDuePairs(ctx)
	if err != nil {
		return 0, err
	}

	swap := func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] }
	rand.Shuffle(len(pairs), swap) //nolint:gosec // spreads load, guards no secret
	for _, pair := range pairs {
		p, err := r.Service.Providers.Of(pair.platform, pair.client)
		for err == nil {
			n := 0
			err = r.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
				n, err = r.claimForSlots(ctx, tx, p, ask)
				return err
			})
			if err != nil {
				return claimed, err
			}

			claimed += n
			if n < claimBatch {
				break
			}
		}
	}

	return claimed, nil
}

// claimForSlots claims as many due grants as there are request slots.
func (r *Refresher) claimForSlots(ctx context.Context, tx *postgres.Tx, p *provider.Provider,
	ask func(context.Context, *postgres.Tx, Claim) error,
) (int, error) {
	var now, next time.Time
	var held, probe bool
	err := tx.QueryRow(ctx, `
		INSERT INTO social_budget (family, client_id, claim_at)
		VALUES ($1, $2, coalesce($3::timestamptz, clock_timestamp()))
		ON CONFLICT (family, client_id) DO UPDATE SET claim_at = greatest(social_budget.claim_at,
		coalesce($3::timestamptz, clock_timestamp()))
		RETURNING coalesce($3::timestamptz, clock_timestamp()), claim_at,
			EXISTS (SELECT FROM social_hold WHERE platform = $4 AND client_id = $2
			AND held_until > coalesce($3::timestamptz, clock_timestamp())),
			EXISTS (SELECT FROM social_hold WHERE platform = $4 AND client_id = $2 AND cause = 'misconfigured')`,
		[]any{p.Family, p.ClientID(), r.clock(), p.Platform}, &now, &next, &held, &probe)
	if err != nil {
		return 0, fmt.Errorf("read budget: %w", err)
	}

	room := int(now.Add(horizon).Sub(next) / requestInterval(p))
	if held || room <= 0 {
		return 0, nil
	}

	if probe {
		room = 1
	}

	claims, err := r.ClaimDue(ctx, tx, p.Platform, p.ClientID(), min(room, claimBatch), claimLease)
	if err != nil || len(claims) == 0 {
		return 0, err
	}

	for i, c := range claims {
		c.At = next.Add(time.Duration(i) * requestInterval(p))
		c.In = max(c.At.Sub(now), 0)
		if err := ask(ctx, tx, c); err != nil {
			return 0, err
		}
	}

	tx.Queue(`UPDATE social_budget SET claim_at = $3 WHERE family = $1 AND client_id = $2`, p.Family, p.ClientID(),
		next.Add(time.Duration(len(claims))*requestInterval(p)))

	return len(claims), nil
}

type pair struct {
	platform, client string
	due              time.Time
}

// readDuePairs returns the platforms and client ids with due grants, with one index probe for each pair.
func (r *Refresher) readDuePairs(ctx context.Context) (out []pair, err error) {
	err = r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, pairsSQL, r.clock())
		if err != nil {
			return err
		}

		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p pair, err error) {
			err = row.Scan(&p.platform, &p.client, &p.due)
			return p, err
		})

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read platforms with due grants: %w", err)
	}

	return out, nil
}

const pairsSQL = `
WITH RECURSIVE pair AS (
	(SELECT platform, client_id, refresh_at FROM social_grant WHERE status IN ('active', 'expiring')
	AND refresh_at IS NOT NULL
		ORDER BY platform, client_id, refresh_at LIMIT 1)
	UNION ALL
	SELECT next.* FROM pair, LATERAL (
		SELECT g.platform, g.client_id, g.refresh_at FROM social_grant g
		WHERE g.status IN ('active', 'expiring') AND g.refresh_at IS NOT NULL
		AND (g.platform, g.client_id) > (pair.platform, pair.client_id)
		ORDER BY g.platform, g.client_id, g.refresh_at LIMIT 1) AS next
)
SELECT platform, client_id, refresh_at FROM pair WHERE refresh_at <= coalesce($1::timestamptz, clock_timestamp())`
