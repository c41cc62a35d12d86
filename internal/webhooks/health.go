package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ProbeEvery is the time between two probes of an open circuit, at first.
const ProbeEvery = 30 * time.Second

// The circuit breaker's numbers, and those of the rule that disables an endpoint.
const (
	openAfter    = 5                // failures in a row
	openWithin   = time.Minute      // all of them
	probeAtMost  = 10 * time.Minute // after hours
	probeShare   = 20               // the pause is this part of the time that the circuit has been open
	maxHold      = 24 * time.Hour   // that a receiver may ask for
	disableAfter = 5 * 24 * time.Hour
	disableFrom  = 20 // events
)

// Health is how an endpoint has been doing since its last success. The zero Health is a healthy endpoint's.
type Health struct {
	FailingSince time.Time // zero: not failing
	FailedEvents int       // events of which a try failed for the first time since then
	Streak       int
	StreakFrom   time.Time
	OpenedAt     time.Time // zero: the circuit is closed
	NextProbe    time.Time
	Warned       int // percent of the rule
}

// Open tells whether the circuit is open: nothing but a probe may be sent.
func (h Health) Open() bool { return !h.OpenedAt.IsZero() }

// misfortune is a failed try as the endpoint's health sees it.
type misfortune struct {
	down  bool          // no answer, 429 or 5xx: the endpoint, and not the event, is the matter
	first bool          // of its event
	alone bool          // sent although the circuit was open: a probe, or by hand
	asked time.Duration // by Retry-After
}

// change is what a failure means for the endpoint's line.
type change struct {
	hold time.Duration // let nothing through for so long; 0: as it is
	free bool          // the circuit is closed
}

// suffer takes one failure in.
//
// A circuit opens at the fifth failure in a row within a minute that says that the endpoint is down. A single
// event's tries never are so many, so its plan holds; a backlog's are within milliseconds. A receiver that asks
// for time with Retry-After is believed at once. An answer, whatever its status, to what was sent while the
// circuit was open closes it: somebody is there.
func (h *Health) suffer(now time.Time, m misfortune) (c change) {
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
	if h.Open() && !m.alone { // begun before it opened
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
		c.hold = max(asked, pause(now.Sub(h.OpenedAt)))
	}
	c.hold = max(c.hold, time.Second)
	h.NextProbe = now.Add(c.hold)
	return c
}

// pause is the time between two probes of a circuit that has been open for so long: the endpoint's return is
// noticed within 5 % of its absence, or 30 s.
func pause(open time.Duration) time.Duration {
	return min(max(open/probeShare, ProbeEvery), probeAtMost)
}

// progress is how much of the rule that disables an endpoint is met, in percent: 5 days of only failures, of at
// least 20 events.
func (h Health) progress(now time.Time) int {
	if h.FailingSince.IsZero() {
		return 0
	}
	days := float64(now.Sub(h.FailingSince)) / float64(disableAfter)
	events := float64(h.FailedEvents) / disableFrom
	return int(100 * min(days, events, 1))
}

const (
	healthColumns = `failing_since, failed_events, streak, streak_from, opened_at, next_probe_at, warned`
	// A row to lock, first of all.
	bareHealthSQL = `INSERT INTO webhook_health (org_id, endpoint_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	lockHealthSQL = `SELECT ` + healthColumns + `, now() FROM webhook_health WHERE org_id = $1 AND endpoint_id = $2 FOR UPDATE`
	saveHealthSQL = `
UPDATE webhook_health
SET failing_since = $3, failed_events = $4, streak = $5, streak_from = $6, opened_at = $7, next_probe_at = $8, warned = $9
WHERE org_id = $1 AND endpoint_id = $2`

	// A success wipes the slate. Where the circuit is open it was begun before that: the probe decides about the
	// circuit, and the time of only failures begins anew.
	relieveSQL = `
UPDATE webhook_health
SET failing_since = CASE WHEN opened_at IS NULL THEN NULL ELSE now() END, failed_events = 0,
	streak = CASE WHEN opened_at IS NULL THEN 0 ELSE streak END, warned = 0
WHERE org_id = $1 AND endpoint_id = ANY($2::uuid[]) AND failing_since IS NOT NULL`

	// Healthy again: what was sent through an open circuit arrived, or a person mended the endpoint. The row stays,
	// because others may be about to lock it.
	healSQL = `
UPDATE webhook_health
SET failing_since = NULL, failed_events = 0, streak = 0, streak_from = NULL, opened_at = NULL, next_probe_at = NULL, warned = 0
WHERE org_id = $1 AND endpoint_id = $2`

	// The right to make the one probe of this half minute, by the row's lock: whoever comes second finds the next
	// time moved.
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

// lockHealth reads an endpoint's health, and the time, for change until the end of tx. Where endpoint and health
// are both locked, the endpoint comes first.
func lockHealth(ctx context.Context, tx *postgres.Tx, endpoint id.ID) (h Health, now time.Time, err error) {
	tx.Queue(bareHealthSQL, tx.Org(), endpoint)
	rows, err := tx.Query(ctx, lockHealthSQL, tx.Org(), endpoint)
	if err != nil {
		return h, now, fmt.Errorf("read webhook health: %w", err)
	}
	h, err = pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) (h Health, err error) { return h, scanHealth(r, &h, &now) })
	if err != nil {
		return h, now, fmt.Errorf("read webhook health: %w", err)
	}
	return h, now, nil
}

// scanHealth reads healthColumns, and what stands behind them.
func scanHealth(r pgx.Row, h *Health, more ...any) error {
	var since, from, opened, next *time.Time
	err := r.Scan(append([]any{&since, &h.FailedEvents, &h.Streak, &from, &opened, &next, &h.Warned}, more...)...)
	h.FailingSince, h.StreakFrom, h.OpenedAt, h.NextProbe = orNever(since), orNever(from), orNever(opened), orNever(next)
	return err
}

func saveHealth(tx *postgres.Tx, endpoint id.ID, h *Health) {
	tx.Queue(saveHealthSQL, tx.Org(), endpoint, orNull(h.FailingSince), h.FailedEvents, h.Streak, orNull(h.StreakFrom), orNull(h.OpenedAt), orNull(h.NextProbe), h.Warned)
}

// Admit asks whether a delivery may be sent through a circuit that was seen open. Where it may not, wait says
// how long to wait; at most one in ProbeEvery may.
func (s *Service) Admit(ctx context.Context, db *postgres.DB, org, endpoint id.ID) (probe bool, wait time.Duration, err error) {
	var seconds float64
	err = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(probeSQL, org, endpoint, ProbeEvery).QueryRow(func(r pgx.Row) error { return r.Scan(&probe, &seconds) })
		return nil
	})
	switch {
	case postgres.None(err): // closed meanwhile
		return false, 0, nil
	case err != nil:
		return false, 0, fmt.Errorf("ask for a probe: %w", err)
	case probe:
		return true, 0, nil
	case seconds == 0: // somebody else took it just now
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
