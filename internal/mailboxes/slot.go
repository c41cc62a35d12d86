package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Window is the time in which at most daily_cap mails are marked: 24 hours, and what may lie between the mark and the
// final dot, so that the cap also holds for the times at which the server took the mails.
const Window = 24*time.Hour + time.Minute

// Slot is the result of TakeSlot.
type Slot struct {
	Free   bool
	Reason string    // why not: a state, or daily_cap, gap or ramp
	At     time.Time // when to try again; zero: when a person has changed something
}

// Reasons of a Slot that is not free, beside the states.
const (
	ByCap  = "daily_cap"
	ByGap  = "gap"
	ByRamp = "ramp"
)

// takeSQL reads what decides. A slot that is further ahead than the longest gap was set before the clock of Postgres
// was set back, and does not count. With a cap, a gap or a ramp the row is read again with a lock: their counts must
// not change until the commit. The marks are read after the lock, by the next statement, whose snapshot is later.
const takeSQL = `
SELECT status, held_until, daily_cap, gap_min, gap_max, CASE WHEN next_slot_at <= clock_timestamp()
	+ make_interval(secs => gap_max) THEN next_slot_at END, ramp_start IS NOT NULL, coalesce(ramp_allowed,
	ramp_start, 0), clock_timestamp(), EXISTS (SELECT FROM mailbox_silence s WHERE s.org_id = $1 AND s.mailbox_id = $2
	AND s.since < clock_timestamp() - $3::interval)
FROM mailbox WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`

// TakeSlot decides within the transaction of a mark whether the mailbox may send one more mail now. With a cap, a gap
// or a ramp it locks the mailbox's row until the end of tx, so the caller must be quick, must lock the row of the mail
// after it, and must set marked_at of the mail to clock_timestamp() in the same transaction. automated is true for
// mails of sequences and broadcasts; gap, ramp and a silent server hold only those. rate_per_second is TakeRate's.
func TakeSlot(ctx context.Context, tx *postgres.Tx, mailbox id.ID, automated bool) (Slot, error) {
	g, err := readGate(ctx, tx, mailbox, "")
	if err == nil && g.countsMarked(automated) {
		g, err = readGate(ctx, tx, mailbox, " FOR UPDATE")
	}
	if postgres.None(err) {
		return Slot{Reason: Disabled}, nil
	}
	if err != nil {
		return Slot{}, fmt.Errorf("lock mailbox: %w", err)
	}

	if s, stopped := g.stoppedSlot(); stopped {
		return s, nil
	}

	if automated && g.silent {
		return Slot{Reason: ServerSilent, At: g.now.Add(silentAgain)}, nil
	}

	limit, reason := g.windowLimit(automated)
	if automated && g.nextSlot != nil && g.now.Before(*g.nextSlot) {
		return Slot{Reason: ByGap, At: *g.nextSlot}, nil
	}

	if limit > 0 {
		at, full, err := fullUntil(ctx, tx, mailbox, limit, g.now)
		if err != nil || full {
			return Slot{Reason: reason, At: at}, err
		}
	}
	if automated && g.gapMax > 0 {
		tx.Queue(`UPDATE mailbox SET next_slot_at = clock_timestamp()
			+ make_interval(secs => gap_min + random() * (gap_max - gap_min)) WHERE org_id = $1 AND id = $2`,
			tx.Org(), mailbox)
	}

	return Slot{Free: true}, nil
}

// SendsUncapped is the SQL condition that the mailbox m sends and has no cap: TakeSlot would give a one-to-one mail a
// slot, and lock nothing.
const SendsUncapped = `m.archived_at IS NULL AND m.daily_cap IS NULL AND (m.status = 'active'
	OR m.status = 'held' AND m.held_until <= clock_timestamp())`

// ReturnSlot queues that a slot which TakeSlot gave to an automated mail in the same transaction is not used: the gap
// does not begin.
func ReturnSlot(tx *postgres.Tx, mailbox id.ID) {
	tx.Queue(`UPDATE mailbox SET next_slot_at = clock_timestamp() WHERE org_id = $1 AND id = $2 AND gap_max > 0`,
		tx.Org(), mailbox)
}

// gate is the part of a mailbox that decides whether it may send.
type gate struct {
	status         string
	heldUntil      *time.Time
	cap            *int
	gapMin, gapMax int
	nextSlot       *time.Time
	ramped         bool
	allowed        int
	now            time.Time
	silent         bool // one of its servers, for silentHold
}

func readGate(ctx context.Context, tx *postgres.Tx, mailbox id.ID, lock string) (g gate, err error) {
	err = tx.QueryRow(ctx, takeSQL+lock, []any{tx.Org(), mailbox, silentHold}, &g.status, &g.heldUntil, &g.cap,
		&g.gapMin, &g.gapMax, &g.nextSlot, &g.ramped, &g.allowed, &g.now, &g.silent)
	return g, err
}

// countsMarked reports whether the slot depends on the mails that were marked before.
func (g *gate) countsMarked(automated bool) bool {
	return g.cap != nil || automated && (g.ramped || g.gapMax > 0)
}

// stoppedSlot returns the slot of a mailbox that does not send in its state.
func (g *gate) stoppedSlot() (Slot, bool) {
	switch {
	case g.status == Active:
		return Slot{}, false
	case g.status == Held && g.heldUntil != nil && g.now.Before(*g.heldUntil):
		return Slot{Reason: Held, At: *g.heldUntil}, true
	case g.status == Held && g.heldUntil != nil:
		return Slot{}, false // the hold has ended
	default:
		return Slot{Reason: g.status}, true
	}
}

// windowLimit returns the number of mails in the window, 0 for none, and the reason that it is called by.
func (g *gate) windowLimit(automated bool) (limit int, reason string) {
	if g.cap != nil {
		limit, reason = *g.cap, ByCap
	}
	if automated && g.ramped && (limit == 0 || g.allowed < limit) {
		limit, reason = g.allowed, ByRamp
	}
	return limit, reason
}

// fullUntil reports whether limit mails were marked within the window before now, and when the next one may be.
func fullUntil(ctx context.Context, tx *postgres.Tx, mailbox id.ID, limit int, now time.Time) (at time.Time, full bool,
	err error,
) {
	var oldest time.Time
	err = tx.QueryRow(ctx, oldestSQL, []any{tx.Org(), mailbox, limit - 1}, &oldest)
	if postgres.None(err) {
		return at, false, nil
	}
	if err != nil {
		return at, false, fmt.Errorf("read marks: %w", err)
	}

	at = oldest.Add(Window)
	return at, now.Before(at), nil
}

// oldestSQL reads the mark of the limit-th newest mail.
const oldestSQL = `
SELECT marked_at FROM email WHERE org_id = $1 AND mailbox_id = $2 AND marked_at IS NOT NULL
ORDER BY marked_at DESC OFFSET $3 LIMIT 1`
