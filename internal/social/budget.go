package social

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

const (
	usualRate   = 10.0             // requests per second if the provider's spec states no rate
	slack       = time.Second / 20 // how much earlier than even spacing a request may be sent
	breakerTime = 5 * time.Minute  // between two probes of whether our credentials work again
)

// requestInterval returns the time between two requests of an application.
func requestInterval(p *provider.Provider) time.Duration {
	rate := p.Rate
	if rate <= 0 {
		rate = usualRate
	}
	return time.Duration(float64(time.Second) / rate)
}

// allowedSlack returns slack if the request rate is high enough, and 0 otherwise, so that slack adds at most a tenth to
// the rate.
func allowedSlack(p *provider.Provider) time.Duration {
	if requestInterval(p) <= time.Second/10 {
		return slack
	}
	return 0
}

// reserveSlot reserves the application's next request slot in tx, or returns how long to wait for one. Slots are evenly
// spaced, so that no second sees more than 1.1 times the rate. The row lock serializes the processes; Redis is not
// involved. probe reports that the platform has refused our application and that this request tests whether it still
// does.
func (r *Refresher) reserveSlot(ctx context.Context, tx *postgres.Tx, p *provider.Provider,
	now time.Time,
) (wait time.Duration, probe bool, err error) {
	var held, next time.Time
	switch err = tx.QueryRow(ctx,
		`SELECT held_until, cause = 'misconfigured' FROM social_hold WHERE platform = $1 AND client_id = $2`,
		[]any{p.Platform, p.ClientID()}, &held, &probe); {
	case postgres.None(err):
	case err != nil:
		return 0, false, fmt.Errorf("read hold: %w", err)
	case held.After(now):
		return withJitter(held.Sub(now)), probe, nil
	}

	n, err := tx.Exec(ctx, `
		INSERT INTO social_budget (family, client_id, next_at) VALUES ($1, $2, $3::timestamptz + $4::interval)
		ON CONFLICT (family, client_id) DO UPDATE SET next_at = greatest(social_budget.next_at, $3::timestamptz) +
		$4::interval
		WHERE social_budget.next_at <= $3::timestamptz + $5::interval`, p.Family, p.ClientID(), now, requestInterval(p),
		allowedSlack(p))
	if err != nil {
		return 0, probe, fmt.Errorf("take request slot: %w", err)
	}

	if n == 1 {
		return 0, probe, nil
	}

	if err = tx.QueryRow(ctx, `SELECT next_at FROM social_budget WHERE family = $1 AND client_id = $2`,
		[]any{p.Family, p.ClientID()}, &next); err != nil {
		return 0, probe, fmt.Errorf("read next request slot: %w", err)
	}

	return max(next.Sub(now), requestInterval(p)), probe, nil
}

// holdPlatform stops all requests to the platform for the duration d. The first hold for refused application
// credentials is logged for the operator, once; from then on, until a request succeeds, requests are sent one at a
// time.
func (r *Refresher) holdPlatform(ctx context.Context, p *provider.Provider, cause, code string,
	d time.Duration,
) error {
	var fresh bool
	err := r.App.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var now, since time.Time
		if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, []any{r.clock()},
			&now); err != nil {
			return err
		}

		err := tx.QueryRow(ctx, `
			INSERT INTO social_hold (platform, client_id, held_until, cause, code, since)
			VALUES ($1, $2, $3::timestamptz + $4::interval, $5, $6, $3)
			ON CONFLICT (platform, client_id) DO UPDATE SET held_until = greatest(social_hold.held_until,
			excluded.held_until), code = excluded.code,
				cause = CASE WHEN social_hold.cause = 'misconfigured' THEN social_hold.cause ELSE excluded.cause END,
				since = CASE WHEN social_hold.cause = 'misconfigured'
				OR social_hold.cause = excluded.cause THEN social_hold.since ELSE excluded.since END
			RETURNING since`, []any{p.Platform, p.ClientID(), now, d, cause, code}, &since)
		fresh = since.Equal(now)

		return err
	})
	if err != nil {
		return fmt.Errorf("hold %s: %w", p.Platform, err)
	}

	if fresh && cause == causeMisconfigured {
		r.Metrics.countBreak(p.Platform)
		r.Log.ErrorContext(ctx,
			"platform refuses our application: token renewal is paused until it is fixed; no login is disconnected",
			"platform", p.Platform, "code", code)
	}

	return nil
}

// Causes of a hold.
const (
	causeThrottled     = "throttled"
	causeMisconfigured = "misconfigured"
)

// removeHold removes a hold after a successful request.
func (r *Refresher) removeHold(ctx context.Context, p *provider.Provider) {
	err := r.App.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM social_hold WHERE platform = $1 AND client_id = $2`, p.Platform, p.ClientID())
		return nil
	})
	if err != nil {
		r.Log.WarnContext(ctx, "delete platform hold failed", "platform", p.Platform, "error", err)
		return
	}

	r.Log.InfoContext(ctx, "platform accepts our application again", "platform", p.Platform)
}
