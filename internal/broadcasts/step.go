package broadcasts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Ahead is how many emails of a broadcast may wait for being sent.
const Ahead = 1000

// atMost is how many emails one step writes.
const atMost = 50

// Pauses between two steps that find nothing to do.
const (
	shortPause = time.Second
	longPause  = time.Minute
)

// Next is what follows a step: another one at a time, or none.
type Next struct {
	More bool
	At   time.Time // zero: at once
	// In is the pause until At, or zero if At is a planned time.
	In   time.Duration
	Idle int // steps in a row that found nothing to do
}

// Step makes the next step of a broadcast, unless another run has begun or nothing of it is to be sent. idle is the
// number of steps before that found nothing to do.
func (s *Service) Step(ctx context.Context, tx *postgres.Tx, i id.ID, run, idle int) (Next, error) {
	row, err := table.Lock(ctx, tx, i, true)
	if fault.Is(err, fault.NotFound) || err == nil && row.Value.run != run {
		return Next{}, nil
	}
	if err != nil {
		return Next{}, err
	}
	switch b := &row.Value; b.Status {
	case Scheduled, Preparing:
		return Next{More: true}, s.freezeAudiencePiece(ctx, tx, b)
	case Sending:
		return s.sendDue(ctx, tx, b, idle)
	default:
		return Next{}, nil
	}
}

// freezeAudiencePiece freezes the next piece of the audience.
func (s *Service) freezeAudiencePiece(ctx context.Context, tx *postgres.Tx, b *Broadcast) error {
	r, err := s.newReader(ctx, tx, b, time.Now())
	if err != nil {
		return err
	}
	var until *time.Time
	if err := tx.QueryRow(ctx, `SELECT frozen_at, after_at, after_id FROM broadcast WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), b.ID}, &until, &r.afterAt, &r.afterID); err != nil {
		return fmt.Errorf("read position: %w", err)
	}

	if until != nil {
		r.until = *until
	}
	all, err := r.readNext(ctx, tx)
	if err != nil {
		return err
	}

	home, err := orgZone(ctx, tx)
	if err != nil {
		return err
	}

	var (
		ids []id.ID
		due []time.Time
	)
	for _, m := range all {
		if b.Total++; m.reason != "" {
			b.LeftOut[m.reason]++
			continue
		}
		b.Sendable++
		ids, due = append(ids, m.id), append(due, b.dueAt(home, m.zone))
	}
	tx.Queue(`INSERT INTO broadcast_recipient (org_id, broadcast_id, contact_id, due_at, created_at)
		SELECT $1, $2, u.contact, u.due, clock_timestamp()
		FROM unnest($3::uuid[], $4::timestamptz[]) AS u (contact, due)
		ON CONFLICT DO NOTHING`, tx.Org(), b.ID, ids, due)
	if b.Status = Preparing; !r.more {
		b.Status = Sending
	}
	tx.Queue(`UPDATE broadcast SET frozen_at = $3, after_at = $4, after_id = $5, total = $6, sendable = $7,
			left_out = $8
		WHERE org_id = $1 AND id = $2`, tx.Org(), b.ID, r.until, r.afterAt, r.afterID, b.Total, b.Sendable, b.LeftOut)
	b.queueStatus(tx)

	return nil
}

// dueAt returns when a contact in a time zone gets the mail.
func (b *Broadcast) dueAt(home *time.Location, zone string) time.Time {
	if !b.LocalTime || zone == "" {
		return b.SendAt.Time
	}
	own, err := time.LoadLocation(zone)
	if err != nil {
		own = home
	}
	return schedule.Local(b.SendAt.Time, home, own)
}

// plansByKey precedes the statements that send: the tables grow from nothing while sessions keep their plans, so that
// statistics mislead the planner.
const plansByKey = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('plan_cache_mode', 'force_generic_plan', true)`

// sendDue writes emails of the recipients that are due, or completes the broadcast.
func (s *Service) sendDue(ctx context.Context, tx *postgres.Tx, b *Broadcast, idle int) (Next, error) {
	tx.Queue(plansByKey)
	open, err := emails.OpenOf(ctx, tx, b.ID, Ahead)
	if err != nil {
		return Next{}, err
	}
	m, err := s.Emails.Mailboxes.ForSending(ctx, tx, *b.MailboxID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Next{}, err
	}

	var due []id.ID
	if room := min(Ahead-open, atMost); room > 0 && err == nil && m.MaySend(time.Now()) {
		if due, err = b.readDueRecipients(ctx, tx, room); err != nil {
			return Next{}, err
		}
	}
	if len(due) > 0 {
		return Next{More: true}, s.writeEmails(ctx, tx, b, m, due)
	}

	var next *time.Time
	if err := tx.QueryRow(ctx, `SELECT min(due_at) FROM broadcast_recipient WHERE org_id = $1 AND broadcast_id = $2
		AND NOT written`, []any{tx.Org(), b.ID}, &next); err != nil {
		return Next{}, fmt.Errorf("read recipients: %w", err)
	}

	switch {
	case next != nil && next.After(time.Now()):
		return Next{More: true, At: *next}, nil
	case next != nil || open > 0:
		return pauseFor(idle), nil
	}

	return Next{}, b.complete(ctx, tx)
}

// pauseFor returns the next step after ever longer pauses.
func pauseFor(idle int) Next {
	pause := min(shortPause<<min(idle, 6), longPause)
	return Next{More: true, At: time.Now().Add(pause), In: pause, Idle: idle + 1}
}

// readDueRecipients returns recipients that are due, in the order of their times.
func (b *Broadcast) readDueRecipients(ctx context.Context, tx *postgres.Tx, limit int) ([]id.ID, error) {
	rows, err := tx.Query(ctx, `SELECT contact_id FROM broadcast_recipient WHERE org_id = $1 AND broadcast_id = $2
		AND NOT written AND due_at <= clock_timestamp() ORDER BY due_at, contact_id LIMIT $3`, tx.Org(), b.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("read recipients: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("read recipients: %w", err)
	}
	return all, nil
}

// complete ends a broadcast of which every email is settled, and announces broadcast.completed.
func (b *Broadcast) complete(ctx context.Context, tx *postgres.Tx) error {
	now := wire.Now()
	b.Status, b.CompletedAt = Sent, &now
	b.queueStatus(tx)
	return events.Announce(ctx, tx, events.BroadcastCompleted{Broadcast: events.Broadcast{
		ID: b.ID, Name: b.Name, MailboxID: *b.MailboxID, Status: b.Status, Total: b.Total, Sendable: b.Sendable,
		LeftOut: b.LeftOut, CreatedAt: b.CreatedAt, CompletedAt: now,
	}})
}
