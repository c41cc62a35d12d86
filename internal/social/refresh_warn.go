package social

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Some logins end at a time that no renewal extends: LinkedIn's a year after consent, and logins without a refresh
// token with their access token. The org is notified 30 days, a week and a day before.

// endsSQL is the time at which a login ends for good. $1 lists the platforms that renew by refresh tokens.
const endsSQL = `CASE WHEN sealed_refresh IS NOT NULL THEN refresh_expires_at
	WHEN platform = ANY ($1) THEN access_expires_at END`

// daysSQL is the latest warning that is due, as a number of days before the end.
const daysSQL = `CASE WHEN ends <= at + interval '1 day' THEN 1 WHEN ends <= at + interval '7 days' THEN 7 ELSE 30 END`

// Warn finds the logins with a warning due, at most n, and calls tell for each, in its own transaction under the org,
// to enqueue the notification. It returns the number of logins.
func (r *Refresher) Warn(ctx context.Context, n int,
	tell func(ctx context.Context, tx *postgres.Tx, grant id.ID) error,
) (told int, err error) {
	var platforms []string
	for _, p := range r.Service.Providers.All() {
		if p.Renewal == provider.ByRefreshToken {
			platforms = append(platforms, p.Platform)
		}
	}

	type ending struct {
		org, grant id.ID
		days       int
	}
	var all []ending
	err = r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT org_id, id, `+daysSQL+` FROM (
				SELECT org_id, id, warned_days, `+endsSQL+
			` AS ends, coalesce($2::timestamptz, now()) AS at FROM social_grant
				WHERE status IN ('active', 'expiring') AND (refresh_expires_at <= coalesce($2::timestamptz, now())
				+ interval '30 days'
					OR sealed_refresh IS NULL AND platform = ANY ($1)
					AND access_expires_at <= coalesce($2::timestamptz, now()) + interval '30 days')
			) AS g WHERE ends <= at + interval '30 days' AND (warned_days = 0 OR warned_days > `+daysSQL+
			`) ORDER BY ends LIMIT $3`, platforms, r.clock(), n)
		if err != nil {
			return err
		}

		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e ending, err error) {
			err = row.Scan(&e.org, &e.grant, &e.days)
			return e, err
		})

		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read logins that will end: %w", err)
	}

	for _, e := range all {
		err := r.App.Tx(ctx, e.org, func(tx *postgres.Tx) error {
			rows, err := tx.Exec(ctx, `
				UPDATE social_grant SET warned_days = $3, status = CASE WHEN $3 <= 7 THEN 'expiring'
				ELSE status END, reason = CASE WHEN $3 <= 7 THEN 'ends' ELSE reason END,
					updated_at = now()
				WHERE org_id = $1 AND id = $2 AND status IN ('active', 'expiring') AND (warned_days = 0
				OR warned_days > $3)`, e.org, e.grant, e.days)
			if err != nil || rows == 0 {
				return err
			}

			told++

			return tell(ctx, tx, e.grant)
		})
		if err != nil {
			return told, err
		}
	}

	return told, nil
}

// Term describes, for the notification, a login that will end.
type Term struct {
	Name     string // display name of the platform
	Accounts []string
	At       time.Time
}

// TermOf returns the term of a grant. ok is false if the login was renewed or has no connected account.
func (s *Service) TermOf(ctx context.Context, tx *postgres.Tx, grant id.ID) (e Term, ok bool, err error) {
	var platform string
	var at *time.Time
	err = tx.QueryRow(ctx,
		`SELECT g.platform, CASE WHEN g.sealed_refresh IS NULL THEN g.access_expires_at ELSE g.refresh_expires_at END,
			coalesce(array_agg(a.display_name ORDER BY a.display_name) FILTER (WHERE a.id IS NOT NULL), '{}')
		FROM social_grant g LEFT JOIN social_account a ON a.org_id = g.org_id AND a.grant_id = g.id
		AND a.disconnected_at IS NULL
		WHERE g.org_id = $1 AND g.id = $2 AND g.status IN ('active', 'expiring') AND g.warned_days > 0 GROUP BY 1, 2`,
		[]any{tx.Org(), grant}, &platform, &at, &e.Accounts)
	switch {
	case postgres.None(err):
		return e, false, nil
	case err != nil:
		return e, false, fmt.Errorf("read grant: %w", err)
	}

	e.Name = platform
	if p, err := s.Providers.Get(platform); err == nil {
		e.Name = p.Name
	}
	if at != nil {
		e.At = *at
	}

	return e, at != nil && len(e.Accounts) > 0, nil
}
