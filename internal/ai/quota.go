package ai

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Unlimited is the limit of an org without a limit.
const Unlimited = int64(1) << 60

// InFlight is the maximum number of concurrent calls of an org.
const InFlight = 5

// grace is the time after a call's timeout in which its process may still settle it. Sweeps run every 20 seconds, so a
// lost reservation is charged within a minute after the timeout.
const grace = 30 * time.Second

// Want describes a call to reserve tokens for.
type Want struct {
	Operation string
	Estimate  int64         // tokens
	Limit     int64         // per month
	Timeout   time.Duration // of the call
	RequestID string
	Key       string // the caller's idempotency key; "": none
}

// Month is an org's account for one month.
type Month struct {
	Period   time.Time // start of the month
	Used     int64
	Reserved int64
}

// Resets returns the start of the next month.
func (m Month) Resets() time.Time { return m.Period.AddDate(0, 1, 0) }

// ResetsAt returns the end of the month that contains t.
func ResetsAt(t time.Time) time.Time { return Month{Period: monthOf(t)}.Resets() }

// Reservation is a number of tokens reserved for one call.
type Reservation struct {
	ID    id.ID
	Month Month // the account after the reservation
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// reserveSQL reserves the estimate if the month's limit and the limit of concurrent calls permit it. The preceding
// statement locks the account's row, so an org's reservations are serialized.
const reserveSQL = `
WITH room AS (
	SELECT count(*) AS open FROM ai_reservation WHERE org_id = $1 AND state = 'open' AND expires_at > now()
), taken AS (
	UPDATE ai_quota SET reserved = reserved + $4 FROM room
	WHERE org_id = $1 AND period = $3 AND used + reserved + $4 <= $5 AND room.open < $6
	RETURNING used, reserved
), made AS (
	INSERT INTO ai_reservation (org_id, id, period, operation, estimate, request_id, created_at, expires_at,
	client_key, cap)
	SELECT $1, $2, $3, $7, $4, $8, $9, now() + make_interval(secs => $10), nullif($11, ''), $12 FROM taken
)
SELECT coalesce(t.used, q.used), coalesce(t.reserved, q.reserved), t.used IS NOT NULL, room.open
FROM ai_quota q CROSS JOIN room LEFT JOIN taken t ON true WHERE q.org_id = $1 AND q.period = $3`

// Reserve reserves tokens for a call. It returns a fault if they are not available: ai_request_too_large if the
// estimate exceeds the limit of any month, ai_quota_exhausted until the next month, ai_rate_limited while too many
// calls are in flight, idempotency_in_flight while a call with the same key is in flight. The reservation commits with
// tx; call the provider only after that.
func Reserve(ctx context.Context, tx *postgres.Tx, w Want) (Reservation, error) {
	now := time.Now()
	r := Reservation{ID: id.New(), Month: Month{Period: monthOf(now)}}
	if w.Estimate > w.Limit {
		return r, fault.New(fault.AIRequestTooLarge, "The request needs more tokens than the monthly quota.")
	}

	tx.Queue(`INSERT INTO ai_quota (org_id, period) VALUES ($1, $2) ON CONFLICT DO NOTHING`, tx.Org(), r.Month.Period)
	tx.Queue(`SELECT FROM ai_quota WHERE org_id = $1 AND period = $2 FOR UPDATE`, tx.Org(), r.Month.Period)
	var (
		ok   bool
		open int
	)

	err := tx.QueryRow(ctx, reserveSQL, []any{
		tx.Org(), r.ID, r.Month.Period, w.Estimate, w.Limit, InFlight, w.Operation, w.RequestID, wire.At(now),
		(w.Timeout + grace).Seconds(), w.Key, capOf(w.Limit),
	}, &r.Month.Used, &r.Month.Reserved, &ok, &open)
	switch {
	case postgres.Violates(err, "ai_reservation_twin"):
		f := fault.New(fault.IdempotencyInFlight,
			"A request with this Idempotency-Key is in progress. Retry when it has finished.")
		f.RetryAfter = time.Second
		return r, f
	case err != nil:
		return r, fmt.Errorf("reserve tokens: %w", err)
	case ok:
		return r, nil
	case open >= InFlight:
		f := fault.New(fault.AIRateLimited,
			"Five AI requests of the organization are in progress. Retry when one of them has finished.")
		f.RetryAfter = time.Second
		return r, f
	}

	f := fault.New(fault.AIQuotaExhausted, "The organization's AI tokens for this month are used up.")
	f.RetryAfter = time.Until(r.Month.Resets())

	return r, f
}

// capOf returns limit as it is stored; nil means no limit.
func capOf(limit int64) *int64 {
	if limit >= Unlimited {
		return nil
	}
	return &limit
}

// chargeSQL updates the account. When use reaches 80 or 100 percent of the limit for the first time in the month, it
// also enqueues the job that announces it, as quota_count of migrations/0073_quota_noted.sql does.
const chargeSQL = `
WITH was AS (
	SELECT told FROM ai_quota WHERE org_id = $1 AND period = $2 FOR UPDATE
), account AS (
	UPDATE ai_quota q SET used = q.used + $3, reserved = q.reserved - $4,
		told = greatest(was.told, CASE WHEN $6 THEN 100 WHEN $5::bigint IS NULL THEN 0
		ELSE quota_level(q.used + $3, $5) END)
	FROM was WHERE q.org_id = $1 AND q.period = $2 AND NOT ($6 AND was.told = 100)
	RETURNING q.used, q.told, was.told AS before
)
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
SELECT $1, uuidv7_at(clock_timestamp()), 'quota.announce', json_build_object('kind', 'ai_tokens_month', 'percent',
percent, 'used', a.used, 'limit', $5::bigint),
	'default', 8, job_wake($1, 'default', now())
FROM account a, unnest(ARRAY[80, 100]) AS percent WHERE percent > a.before AND percent <= a.told`

// Exhausted announces, at most once a month, that the quota is exhausted: a request was rejected although no other call
// was in flight, so the remaining tokens are too few to use.
func Exhausted(tx *postgres.Tx, m Month, limit int64) {
	if m.Reserved == 0 {
		tx.Queue(chargeSQL, tx.Org(), m.Period, 0, 0, capOf(limit), true)
	}
}

// Settle charges the tokens that a call used; 0 if the call never reached the provider. Only the first call has an
// effect, except that after a sweep Settle corrects the difference to the estimate. An unknown reservation is an error.
func Settle(ctx context.Context, tx *postgres.Tx, reservation id.ID, used int64) error {
	return settleReservation(ctx, tx, reservation, used, "settled")
}

// settleReservation locks the reservation first and then the account, in the same order as Sweep.
func settleReservation(ctx context.Context, tx *postgres.Tx, reservation id.ID, used int64, state string) error {
	var (
		was      string
		period   time.Time
		estimate int64
		most     *int64
	)

	err := tx.QueryRow(ctx,
		`SELECT state, period, estimate, cap FROM ai_reservation WHERE org_id = $1 AND id = $2 FOR UPDATE`,
		[]any{tx.Org(), reservation}, &was, &period, &estimate, &most)
	switch {
	case err != nil:
		return fmt.Errorf("read reservation: %w", err)
	case was == "settled" || was == state:
		return nil
	}

	charge := used
	release := estimate
	if was == "swept" { // the sweep charged and released the estimate
		charge = used - estimate
		release = 0
	}

	tx.Queue(`UPDATE ai_reservation SET state = $3, charged = $4 WHERE org_id = $1 AND id = $2`, tx.Org(),
		reservation, state, used)
	tx.Queue(chargeSQL, tx.Org(), period, charge, release, most, false)

	return nil
}

// Sweep charges the estimates of expired reservations of the org, up to the given number, and returns how many it
// charged.
func Sweep(ctx context.Context, tx *postgres.Tx, most int) (int, error) {
	rows, err := tx.Query(ctx,
		`SELECT id, estimate FROM ai_reservation WHERE org_id = $1 AND state = 'open' AND expires_at <= now()
			ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`, tx.Org(), most)
	if err != nil {
		return 0, fmt.Errorf("find lost reservations: %w", err)
	}

	type lost struct {
		ID       id.ID
		Estimate int64
	}

	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lost])
	if err != nil {
		return 0, fmt.Errorf("find lost reservations: %w", err)
	}

	for _, l := range all {
		if err := settleReservation(ctx, tx, l.ID, l.Estimate, "swept"); err != nil {
			return 0, err
		}
	}

	return len(all), nil
}

// Lost returns the orgs that have expired reservations; tx must be a system transaction.
func Lost(ctx context.Context, tx *postgres.Tx) ([]id.ID, error) {
	rows, err := tx.Query(ctx,
		`SELECT DISTINCT org_id FROM ai_reservation WHERE state = 'open' AND expires_at <= now() LIMIT 1000`)
	if err != nil {
		return nil, fmt.Errorf("find orgs with lost reservations: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

// ThisMonth returns the org's account of the current month.
func ThisMonth(ctx context.Context, tx *postgres.Tx) (Month, error) {
	m := Month{Period: monthOf(time.Now())}
	err := tx.QueryRow(ctx, `SELECT used, reserved FROM ai_quota WHERE org_id = $1 AND period = $2`,
		[]any{tx.Org(), m.Period}, &m.Used, &m.Reserved)
	if err != nil && !postgres.None(err) {
		return m, fmt.Errorf("read account: %w", err)
	}
	return m, nil
}

// OperationUsage is the use of one operation in a month.
type OperationUsage struct {
	Operation string `json:"operation" doc:"The AI operation, such as draft_email"`
	Requests  int64  `json:"requests" doc:"Requests that were charged this month"`
	Tokens    int64  `json:"tokens" doc:"Tokens that were charged this month"`
}

// ByOperation returns this month's use by operation, without open reservations.
func ByOperation(ctx context.Context, tx *postgres.Tx) ([]OperationUsage, error) {
	rows, err := tx.Query(ctx, `SELECT operation, count(*), sum(charged)::bigint FROM ai_reservation
		WHERE org_id = $1 AND period = $2 AND state <> 'open' GROUP BY operation ORDER BY operation`, tx.Org(),
		monthOf(time.Now()))
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[OperationUsage])
}
