package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Reasons of a mailbox that is disabled for its health.
const (
	BadBounces    = "bounce_rate"
	BadComplaints = "complaint_rate"
)

// Limits of the rates among the last 200 mails. A mailbox with fewer than leastSample mails is judged as if it had so
// many, and one complaint alone never disables it: so small a number says nothing of a rate.
const (
	leastSample    = 50
	halveBounces   = 0.05
	stopBounces    = 0.08
	halveComplaint = 0.001
	stopComplaint  = 0.003
	stopComplaints = 2
)

// Health is what became of the last 200 mails of a mailbox.
type Health struct{ Sent, Bounced, Complained int }

// isPoor reports whether the ramp must not grow.
func (h Health) isPoor() bool {
	return h.bounceRate() > halveBounces || h.complaintRate() > halveComplaint
}

// stopReason returns the reason to disable the mailbox, or "".
func (h Health) stopReason() string {
	switch {
	case h.bounceRate() >= stopBounces:
		return BadBounces
	case h.Complained >= stopComplaints && h.complaintRate() >= stopComplaint:
		return BadComplaints
	}
	return ""
}

func (h Health) bounceRate() float64 { return float64(h.Bounced) / float64(max(h.Sent, leastSample)) }

func (h Health) complaintRate() float64 {
	return float64(h.Complained) / float64(max(h.Sent, leastSample))
}

// Judge counts what became of the last 200 mails of a mailbox, and acts on it: above 5 % hard bounces or 0.1 %
// complaints the ramp is halved, at most once a day of UTC; at 8 % or 0.3 % an active or held mailbox is disabled, and
// mailbox.disabled is announced. A sandbox mailbox is counted only. It also lets the ramp grow by its step for each day
// that sent, up to the cap, while the health is good.
//
// record, which may be nil, is called with the mailbox's row locked. It writes that a mail has bounced or was
// complained about: email.bounced, email.complained_at. The row of a mail must be locked after the row of its mailbox,
// as marks do; a caller that holds the mail's row already may become the victim of a deadlock, and tries again.
func Judge(ctx context.Context, tx *postgres.Tx, mailbox id.ID, record func() error) error {
	row, err := table.Lock(ctx, tx, mailbox, true)
	if err != nil {
		return err
	}
	if record != nil {
		if err := record(); err != nil {
			return err
		}
	}
	j := judgement{stored: &row.Value}
	if err := j.readHealth(ctx, tx); err != nil {
		return err
	}

	disabled := j.applyLimits()
	if j.queueHealth(tx); disabled {
		setState(tx, j.stored)
		return events.Announce(ctx, tx, events.MailboxDisabled{Mailbox: j.Shown(time.Now())})
	}

	return nil
}

// judgement is a mailbox that is being judged.
type judgement struct {
	*stored
	health   Health
	today    time.Time // the day of UTC
	allowed  int       // ramp_allowed
	rampOn   *time.Time
	halvedOn *time.Time
	days     int // days since rampOn, without today, on which mails were marked
}

const judgeSQL = `
SELECT h.sent, h.bounced, h.complained, t.day, coalesce(m.ramp_allowed, m.ramp_start, 0), m.ramp_on, m.ramp_halved_on,
	CASE WHEN m.ramp_on < t.day THEN (
		SELECT count(DISTINCT (e.marked_at AT TIME ZONE 'UTC')::date) FROM email e
		WHERE e.org_id = $1 AND e.mailbox_id = $2 AND e.marked_at >= m.ramp_on::timestamp AT TIME ZONE 'UTC'
			AND e.marked_at < t.day::timestamp AT TIME ZONE 'UTC')
	ELSE 0 END
FROM mailbox m, mailbox_health(m.org_id, m.id, m.health_since) h,
	(SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date) t (day)
WHERE m.org_id = $1 AND m.id = $2`

func (j *judgement) readHealth(ctx context.Context, tx *postgres.Tx) error {
	err := tx.QueryRow(ctx, judgeSQL, []any{tx.Org(), j.ID}, &j.health.Sent, &j.health.Bounced, &j.health.Complained,
		&j.today, &j.allowed, &j.rampOn, &j.halvedOn, &j.days)
	if err != nil {
		return fmt.Errorf("count health of mailbox: %w", err)
	}
	return nil
}

// applyLimits applies the limits, and reports whether the mailbox is disabled now.
func (j *judgement) applyLimits() (disabled bool) {
	j.growRamp()
	j.sent, j.bounced, j.complained = j.health.Sent, j.health.Bounced, j.health.Complained
	if j.Kind == Sandbox || !j.health.isPoor() {
		return false
	}
	if j.halvedOn == nil || j.halvedOn.Before(j.today) {
		j.allowed, j.halvedOn = max(j.allowed/2, 1), &j.today
	}
	reason := j.health.stopReason()
	if reason == "" || j.ArchivedAt != nil || j.Status != Active && j.Status != Held {
		return false
	}

	j.Status, j.reason, j.HeldUntil = Disabled, reason, nil

	return true
}

// growRamp lets the ramp grow by the days that have passed.
func (j *judgement) growRamp() {
	if j.rampStart == nil || j.rampOn != nil && !j.rampOn.Before(j.today) {
		return
	}
	j.rampOn = &j.today
	if j.days == 0 || j.health.isPoor() {
		return
	}
	most := maxCap
	if j.DailyCap != nil {
		most = *j.DailyCap
	}
	j.allowed = max(min(j.allowed+j.days*j.rampStep, most), min(j.allowed, most))
}

// queueHealth queues the figures and the ramp. The ETag changes with the figures that are shown.
func (j *judgement) queueHealth(tx *postgres.Tx) {
	var allowed *int
	if j.rampStart != nil {
		allowed = &j.allowed
	} else {
		j.rampOn, j.halvedOn = nil, nil
	}
	tx.Queue(`UPDATE mailbox SET health_sent = $3, health_bounced = $4, health_complained = $5, health_at = now(),
			ramp_allowed = $6, ramp_on = $7, ramp_halved_on = $8,
			computed = computed + ((health_sent, health_bounced, health_complained) <> ($3, $4, $5))::int
		WHERE org_id = $1 AND id = $2`, tx.Org(), j.ID, j.health.Sent, j.health.Bounced, j.health.Complained, allowed,
		j.rampOn, j.halvedOn)
}
