package social

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// fence selects the grant only if the attempt's mark is still on it. The mark is cleared when the attempt ends and
// replaced when another attempt begins; a claim alone leaves it.
const fence = `org_id = $1 AND id = $2 AND attempt_state = 'intent' AND attempt_at = $3
	AND attempt_token_hash = $4 AND status IN ('active', 'expiring')`

// answer is a provider's response, sealed, as the token journal keeps it and Postgres stores it.
type answer struct {
	Org              id.ID      `json:"org"`
	Grant            id.ID      `json:"grant"`
	Platform         string     `json:"platform"`
	AttemptAt        time.Time  `json:"attempt_at"`
	TokenHash        []byte     `json:"token_hash"`
	Access           []byte     `json:"access"`            // sealed as in the row
	Refresh          []byte     `json:"refresh,omitempty"` // nil: keep the row's
	Scopes           []string   `json:"scopes"`
	IssuedAt         time.Time  `json:"issued_at"`
	ExpiresAt        *time.Time `json:"expires_at,omitempty"`
	RefreshExpiresAt *time.Time `json:"refresh_expires_at,omitempty"`
	DueAt            *time.Time `json:"due_at,omitempty"`
}

func (r *Refresher) answerOf(a *attempt, t provider.Token) (answer, error) {
	access, refresh, err := r.Service.sealTokens(a.org, a.grant, t)
	return answer{
		Org: a.org, Grant: a.grant, Platform: a.provider.Platform, AttemptAt: a.at, TokenHash: a.hash, Access: access,
		Refresh: refresh, Scopes: notNil(t.Scopes), IssuedAt: t.IssuedAt,
		ExpiresAt: t.ExpiresAt, RefreshExpiresAt: t.RefreshExpiresAt, DueAt: DueAt(a.provider, t),
	}, err
}

// soonEnds is how long before its end a login that cannot be renewed any further is shown as expiring.
const soonEnds = 7 * 24 * time.Hour

// storeTokens replaces the tokens that the attempt spent, and reports whether the attempt still held its grant. It is
// safe to retry: tokens that are already stored are detected. A refresh token is never replaced by an empty one.
func (r *Refresher) storeTokens(ctx context.Context, n answer) (stored bool, err error) {
	err = r.App.Tx(ctx, n.Org, func(tx *postgres.Tx) error {
		rows, err := tx.Exec(ctx, `
			UPDATE social_grant SET sealed_access = $5, sealed_refresh = coalesce($6, sealed_refresh), scopes =
			$7, issued_at = $8, access_expires_at = $9,
				refresh_expires_at = $10, refresh_at = $11, version = version + 1, attempt_state = NULL,
				attempt_at = NULL, attempt_token_hash = NULL,
				status = CASE WHEN $10::timestamptz < coalesce($12::timestamptz, now()) + $13::interval THEN
				'expiring' ELSE 'active' END, reason = '', fail_count = 0,
				warned_days = CASE WHEN $10::timestamptz > refresh_expires_at + interval '1 day'
				OR $10::timestamptz IS NULL THEN 0 ELSE warned_days END,
				updated_at = now()
			WHERE `+fence, n.Org, n.Grant, n.AttemptAt, n.TokenHash, n.Access, n.Refresh, n.Scopes, n.IssuedAt,
			n.ExpiresAt, n.RefreshExpiresAt, n.DueAt, r.clock(), soonEnds)
		if err != nil {
			return err
		}

		stored = rows == 1
		if stored {
			return r.Service.askOwnTokens(ctx, tx, n.Platform, n.Grant)
		}

		// The commit of an earlier try may have succeeded although its result was lost.
		err = tx.QueryRow(ctx,
			`SELECT coalesce(sealed_access = $3, false) FROM social_grant WHERE org_id = $1 AND id = $2`,
			[]any{n.Org, n.Grant, n.Access}, &stored)
		if postgres.None(err) {
			return nil
		}

		return err
	})
	if err != nil {
		return false, fmt.Errorf("store tokens: %w", err)
	}

	return stored, nil
}

// storeUntil retries store while Postgres is unavailable, until the lease ends.
func (r *Refresher) storeUntil(ctx context.Context, n answer, end time.Time) (stored bool, err error) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		writing, cancel := context.WithTimeout(ctx, statement)
		stored, err = r.storeTokens(writing, n)
		cancel()
		if err == nil || time.Now().Add(pause).After(end) {
			return stored, err
		}
		<-time.After(pause)
	}
}

// recordFailure records the consequences of a provider's error.
func (r *Refresher) recordFailure(ctx context.Context, a *attempt, err error) (Outcome, error) {
	var e *provider.Error
	if !errors.As(err, &e) {
		e = &provider.Error{Class: provider.Unknown, Platform: a.provider.Platform, Code: "error"}
	}

	ctx, cancel := context.WithTimeout(ctx, statement)
	defer cancel()

	log := r.Log.With("platform", a.provider.Platform, "org_id", a.org.String(), "grant_id", a.grant.String(), "code",
		e.Code, "http_status", e.Status)
	switch e.Class {
	case provider.Dead, provider.Stale:
		reason := cmp.Or(e.Code, "dead")
		if a.lost {
			reason = RotationOutcomeLost
		}

		died, err := r.endDeadGrant(ctx, a, reason)
		if err != nil || !died {
			return r.countOutcome(a.provider.Platform, Moved), err
		}

		log.WarnContext(ctx, "login needs reauthorization", "reason", reason)
		return r.countOutcome(a.provider.Platform, Refused), nil
	case provider.Throttled:
		wait := max(e.RetryAfter, time.Second)
		err := r.holdPlatform(ctx, a.provider, causeThrottled, e.Code, wait)
		return r.countOutcome(a.provider.Platform, Throttled), errors.Join(err,
			r.scheduleRetry(ctx, a, withJitter(wait), a.lost, 0))
	case provider.Misconfigured:
		err := r.holdPlatform(ctx, a.provider, causeMisconfigured, e.Code, breakerTime)
		return r.countOutcome(a.provider.Platform, Misconfigured),
			errors.Join(err, r.scheduleRetry(ctx, a, withJitter(breakerTime), a.lost, 0))
	case provider.Unknown:
		log.WarnContext(ctx, "refresh outcome unknown")
		return r.countOutcome(a.provider.Platform, Lost), r.scheduleRetry(ctx, a,
			backoff(a.failures), true, 1)
	default:
		log.InfoContext(ctx, "refresh failed and will be retried")
		return r.countOutcome(a.provider.Platform, Later), r.scheduleRetry(ctx, a,
			max(backoff(a.failures), e.RetryAfter), a.lost, 1)
	}
}

// RotationOutcomeLost is the reason of a grant that died because the response with its only new token was lost.
const RotationOutcomeLost = "rotation_outcome_lost"

// scheduleRetry ends the attempt and schedules another. If lost is set, it keeps the mark: the token may be spent, and
// a later refusal is then distinguished from a login that its owner has ended.
func (r *Refresher) scheduleRetry(ctx context.Context, a *attempt, in time.Duration, lost bool,
	failures int,
) error {
	return r.App.Tx(ctx, a.org, func(tx *postgres.Tx) error {
		tx.Queue(`
			UPDATE social_grant SET refresh_at = coalesce($5::timestamptz, clock_timestamp()) + $6::interval,
			version = version + 1, fail_count = fail_count + $8,
				attempt_state = CASE WHEN $7 THEN attempt_state END, attempt_at = CASE WHEN $7 THEN attempt_at END,
				attempt_token_hash = CASE WHEN $7 THEN attempt_token_hash END,
				status = CASE WHEN access_expires_at <= coalesce($5::timestamptz, clock_timestamp()) THEN
				'expiring' ELSE status END
			WHERE `+fence, a.org, a.grant, a.at, a.hash, r.clock(), in, lost, failures)
		return nil
	})
}

// endDeadGrant ends the grant, unless it has changed since the attempt began: then an outdated token was refused. A
// concurrent claim increments the version without changing the grant, so endDeadGrant tries again.
func (r *Refresher) endDeadGrant(ctx context.Context, a *attempt, reason string) (died bool,
	err error,
) {
	for range 5 {
		var version int64
		err = r.App.Tx(ctx, a.org, func(tx *postgres.Tx) error {
			err := tx.QueryRow(ctx, `SELECT version FROM social_grant WHERE `+fence,
				[]any{a.org, a.grant, a.at, a.hash}, &version)
			if err != nil {
				return err
			}

			died, err = r.Service.Died(ctx, tx, a.grant, version, reason)

			return err
		})
		if postgres.None(err) {
			return false, nil
		}

		if err != nil || died {
			return died, err
		}
	}

	return false, errors.New("the grant kept changing")
}

// endExpired ends a grant that has expired and cannot be renewed.
func (r *Refresher) endExpired(ctx context.Context, org, grant id.ID, reason string) error {
	return r.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		var version int64
		err := tx.QueryRow(ctx,
			`SELECT version FROM social_grant WHERE org_id = $1 AND id = $2
				AND access_expires_at <= coalesce($3::timestamptz, clock_timestamp())`,
			[]any{org, grant, r.clock()}, &version)
		if postgres.None(err) {
			return nil
		}

		if err != nil {
			return err
		}

		_, err = r.Service.Died(ctx, tx, grant, version, reason)

		return err
	})
}

// backoff returns the delay after a failure: 30 s, doubling up to five minutes, with a jitter of up to half. It is
// short because a token with a lifetime of two hours has 18 minutes left when it is renewed at the latest point.
func backoff(failures int) time.Duration {
	d := 5 * time.Minute
	if failures < 4 {
		d = min(d, 30*time.Second<<failures)
	}
	return time.Duration(float64(d) * (0.5 + rand.Float64())) //nolint:gosec // spreading load, not guarding a secret
}

// withJitter returns d plus a random amount of up to a tenth, so that waiters for the same moment do not all act at
// once.
func withJitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Float64()*float64(d)/10) //nolint:gosec // spreading load, not guarding a secret
}
