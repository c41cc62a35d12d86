package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ProbeEvery is the initial interval between two probes of an open circuit.
const ProbeEvery = 30 * time.Second

// Parameters of the circuit breaker and of the rule that disables an endpoint.
const (
	openAfter    = 5                // consecutive failures
	openWithin   = time.Minute      // for all of them
	probeAtMost  = 10 * time.Minute // maximum interval, reached after hours
	probeShare   = 20               // the interval is this fraction of the time since the circuit opened
	maxHold      = 24 * time.Hour   // maximum Retry-After that is honoured
	disableAfter = 5 * 24 * time.Hour
	disableFrom  = 20 // minimum number of failed events
)

// Health is the record of an endpoint's failures since its last success. The zero Health is healthy.
type Health struct {
	FailingSince time.Time // zero: not failing
	FailedEvents int       // events with a first failed attempt since then
	Streak       int
	StreakFrom   time.Time
	OpenedAt     time.Time // zero: the circuit is closed
	NextProbe    time.Time
	Warned       int // percent of the rule at the last warning
}

// Open reports whether the circuit is open, so that only a probe may be sent.
func (h Health) Open() bool { return !h.OpenedAt.IsZero() }

// failureSignal describes a failed attempt for the endpoint's health.
type failureSignal struct {
	down  bool          // no response, 429 or 5xx: the endpoint is down
	first bool          // the event's first attempt
	alone bool          // sent despite an open circuit: a probe, or manually
	asked time.Duration // Retry-After
}

// change is the effect of a failure on the endpoint's circuit.
type change struct {
	hold time.Duration // open the circuit for this long; 0: no change
	free bool          // close the circuit
}

// recordFailure records one failure and returns its effect on the circuit.
//
// The circuit opens at the fifth consecutive failure within a minute that shows that the endpoint is down. The attempts
// of a single event are further apart, so they do not open the circuit and keep their schedule; the attempts of a
// backlog are milliseconds apart. A Retry-After opens the circuit at once. Any response below 500, except 429, to an
// attempt sent while the circuit is open closes it, because the endpoint is reachable.
func (h *Health) recordFailure(now time.Time, m failureSignal) (c change) {
	if h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	if m.first {
		h.FailedEvents++
	}
	if !m.down {
		h.Streak, h.StreakFrom = 0, time.Time{}
		if h.Open() && m.alone {
			h.OpenedAt, h.NextProbe = time.Time{}, time.Time{}
			c.free = true
		}
		return c
	}
	if h.Streak == 0 || !h.Open() && now.Sub(h.StreakFrom) > openWithin {
		h.Streak, h.StreakFrom = 0, now
	}
	h.Streak++
	asked := min(m.asked, maxHold)
	if h.Streak < openAfter && asked <= 0 && !h.Open() {
		return c
	}
	if h.Open() && !m.alone { // started before the circuit opened
		if until := now.Add(asked); until.After(h.NextProbe) {
			c.hold, h.NextProbe = asked, until
		}
		return c
	}
	if !h.Open() {
		h.OpenedAt = now
	}
	c.hold = asked
	if h.Streak >= openAfter {
		c.hold = max(asked, probeInterval(now.Sub(h.OpenedAt)))
	}
	c.hold = max(c.hold, time.Second)
	h.NextProbe = now.Add(c.hold)
	return c
}

// probeInterval returns the interval between two probes of a circuit that has been open for the given time. The
// endpoint's return is noticed within 5 % of its downtime, or 30 s.
func probeInterval(open time.Duration) time.Duration {
	return min(max(open/probeShare, ProbeEvery), probeAtMost)
}

// disableProgress returns how far the rule that disables an endpoint is met, in percent. The rule is 5 days of only
// failures, of at least 20 events.
func (h Health) disableProgress(now time.Time) int {
	if h.FailingSince.IsZero() {
		return 0
	}
	days := float64(now.Sub(h.FailingSince)) / float64(disableAfter)
	events := float64(h.FailedEvents) / disableFrom
	return int(100 * min(days, events, 1))
}

const (
	healthColumns = `failing_since, failed_events, streak, streak_from, opened_at, next_probe_at, warned`
	// Creates the row, so that it can be locked.
	bareHealthSQL = `INSERT INTO webhook_health (org_id, endpoint_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	lockHealthSQL = `SELECT ` + healthColumns +
		`, now() FROM webhook_health WHERE org_id = $1 AND endpoint_id = $2 FOR UPDATE`
	saveHealthSQL = `
UPDATE webhook_health
SET failing_since = $3, failed_events = $4, streak = $5, streak_from = $6, opened_at = $7, next_probe_at = $8,
warned = $9
WHERE org_id = $1 AND endpoint_id = $2`

	// A success resets the failures. If the circuit is open, the attempt started before it opened: the probe decides
	// about the circuit, and the time of only failures restarts.
	relieveSQL = `
UPDATE webhook_health
SET failing_since = CASE WHEN opened_at IS NULL THEN NULL ELSE now() END, failed_events = 0,
	streak = CASE WHEN opened_at IS NULL THEN 0 ELSE streak END, warned = 0
WHERE org_id = $1 AND endpoint_id = ANY($2::uuid[]) AND failing_since IS NOT NULL`

	// Resets the health: an attempt through an open circuit succeeded, or a user changed the endpoint. The row stays,
	// because concurrent transactions may be about to lock it.
	healSQL = `
UPDATE webhook_health
SET failing_since = NULL, failed_events = 0, streak = 0, streak_from = NULL, opened_at = NULL, next_probe_at =
NULL, warned = 0
WHERE org_id = $1 AND endpoint_id = $2`

	// Claims the next probe under the row lock: a concurrent claim finds next_probe_at already moved.
	probeSQL = `
WITH taken AS (
	UPDATE webhook_health SET next_probe_at = now() + $3::interval
	WHERE org_id = $1 AND endpoint_id = $2 AND opened_at IS NOT NULL AND next_probe_at <= now()
	RETURNING 1
)
SELECT EXISTS (SELECT FROM taken), greatest(extract(epoch FROM h.next_probe_at - now()), 0)::float8
FROM webhook_health h
WHERE h.org_id = $1 AND h.endpoint_id = $2 AND h.opened_at IS NOT NULL`
)

// lockHealth reads an endpoint's health and the database's time, and holds the row lock until the end of tx. A
// transaction that locks the endpoint as well must lock the endpoint first.
func lockHealth(ctx context.Context, tx *postgres.Tx, endpoint id.ID) (h Health, now time.Time, err error) {
	tx.Queue(bareHealthSQL, tx.Org(), endpoint)
	rows, err := tx.Query(ctx, lockHealthSQL, tx.Org(), endpoint)
	if err != nil {
		return h, now, fmt.Errorf("read webhook health: %w", err)
	}
	h, err = pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) (h Health, err error) {
		return h, scanHealth(r, &h, &now)
	})
	if err != nil {
		return h, now, fmt.Errorf("read webhook health: %w", err)
	}
	return h, now, nil
}

// scanHealth scans healthColumns and the columns after them.
func scanHealth(r pgx.Row, h *Health, more ...any) error {
	var since, from, opened, next *time.Time
	err := r.Scan(append([]any{&since, &h.FailedEvents, &h.Streak, &from, &opened, &next, &h.Warned}, more...)...)
	h.FailingSince, h.StreakFrom, h.OpenedAt, h.NextProbe = orNever(since), orNever(from), orNever(opened),
		orNever(next)
	return err
}

func saveHealth(tx *postgres.Tx, endpoint id.ID, h *Health) {
	tx.Queue(saveHealthSQL, tx.Org(), endpoint, orNull(h.FailingSince), h.FailedEvents, h.Streak,
		orNull(h.StreakFrom), orNull(h.OpenedAt), orNull(h.NextProbe), h.Warned)
}

// Admit claims a probe for a delivery to an endpoint with an open circuit. If there is no probe to claim, wait is the
// time to wait; at most one delivery per ProbeEvery is admitted.
func (s *Service) Admit(ctx context.Context, db *postgres.DB, org, endpoint id.ID) (probe bool, wait time.Duration,
	err error,
) {
	var seconds float64
	err = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(probeSQL, org, endpoint, ProbeEvery).QueryRow(func(r pgx.Row) error {
			return r.Scan(&probe, &seconds)
		})
		return nil
	})
	switch {
	case postgres.None(err): // closed meanwhile
		return false, 0, nil
	case err != nil:
		return false, 0, fmt.Errorf("claim probe: %w", err)
	case probe:
		return true, 0, nil
	case seconds == 0: // claimed concurrently
		return false, ProbeEvery, nil
	}
	return false, time.Duration(seconds * float64(time.Second)), nil
}

func orNever(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
