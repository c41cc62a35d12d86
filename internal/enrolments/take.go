package enrolments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Priorities of enrolments.
const (
	followUp = 0
	first    = 1
)

// lockDue locks at most n enrolments of the groups that are due, the first due ones first. Enrolments that other
// transactions have locked are left to the next tick.
func (t *tick) lockDue(ctx context.Context, groups []int64, prio, n int) ([]Enrolment, error) {
	if len(groups) == 0 || n <= 0 {
		return nil, nil
	}
	rows, err := t.tx.Query(ctx, `
		SELECT o.id FROM unnest($2::bigint[]) AS g (id), LATERAL (
			SELECT n.id, n.due_at FROM enrolment n WHERE n.org_id = $1 AND n.grp = g.id AND n.prio = $3
				AND n.due_at <= $4 ORDER BY n.due_at, n.id LIMIT $5) o
		ORDER BY o.due_at, o.id LIMIT $5`, t.tx.Org(), groups, prio, t.now, n)
	if err != nil {
		return nil, fmt.Errorf("find due enrolments: %w", err)
	}

	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("find due enrolments: %w", err)
	}

	if len(ids) == 0 {
		return nil, nil
	}
	return readWhere(ctx, t.tx, `n.id = ANY ($2::uuid[]) AND n.due_at <= $3 AND n.grp = ANY ($4::bigint[])
		ORDER BY n.due_at, n.id FOR UPDATE SKIP LOCKED`, ids, t.now, groups)
}

// runSilentSteps executes the due steps that send nothing.
func (t *tick) runSilentSteps(ctx context.Context) error {
	if t.ending != nil {
		return nil
	}
	var open []int64
	for _, g := range t.groups {
		if g.open && g.mailbox == nil {
			open = append(open, g.id)
		}
	}
	for left, prio := stepsAtOnce, followUp; prio <= first; prio++ {
		all, err := t.lockDue(ctx, open, prio, left)
		if err != nil {
			return err
		}
		left -= len(all)
		if err := t.runSteps(ctx, all); err != nil {
			return err
		}
	}

	return nil
}

// runMailSteps executes the due steps that send, mailbox by mailbox, as far as each may send now.
func (t *tick) runMailSteps(ctx context.Context) error {
	var order []id.ID
	of := map[id.ID][]*group{}
	for _, g := range t.groups {
		if !g.open || g.mailbox == nil {
			continue
		}
		if of[*g.mailbox] == nil {
			order = append(order, *g.mailbox)
		}
		of[*g.mailbox] = append(of[*g.mailbox], g)
	}
	for _, mailbox := range order {
		if err := t.runMailboxSteps(ctx, mailbox, of[mailbox]); err != nil {
			return err
		}
	}

	return nil
}

// runMailboxSteps executes the due steps of the open groups of a mailbox: follow-ups first, then first steps.
func (t *tick) runMailboxSteps(ctx context.Context, mailbox id.ID, groups []*group) error {
	if t.left <= 0 {
		return nil
	}
	mailboxes.LockUse(t.tx, mailbox) // before the rows, as package removal does
	var underWay int
	if err := t.tx.QueryRow(ctx, `SELECT count(*) FROM enrolment WHERE org_id = $1 AND mailbox_id = $2
		AND state = 'sending'`, []any{t.tx.Org(), mailbox}, &underWay); err != nil {
		return fmt.Errorf("count mails under way: %w", err)
	}

	room, slot, err := mailboxes.Room(ctx, t.tx, mailbox, underWay)
	if err != nil {
		return err
	}

	all := room
	room = min(room, t.left)
	ids := make([]int64, len(groups))
	for i, g := range groups {
		ids[i] = g.id
	}
	later, err := t.lockDue(ctx, ids, followUp, room)
	if err != nil {
		return err
	}
	if err := t.runSteps(ctx, later); err != nil {
		return err
	}

	news, err := t.takeNew(ctx, groups, room-len(later))
	if err != nil {
		return err
	}
	if err := t.runSteps(ctx, news); err != nil {
		return err
	}

	taken := len(later) + len(news)
	if t.left -= taken; taken == all {
		t.deferFullMailbox(groups, slot)
	}

	return nil
}

// deferFullMailbox sets when the groups of a mailbox without room are looked at again.
func (t *tick) deferFullMailbox(groups []*group, slot mailboxes.Slot) {
	at := slot.At
	switch {
	case slot.Free, slot.Reason == mailboxes.UnderWay:
		at = t.now.Add(busy)
	case at.IsZero():
		at = t.now.Add(recheck)
	}
	for _, g := range groups {
		g.floor = at
	}
}

// runSteps executes the current step of each of the enrolments. An error that is not Postgres's puts a step off.
func (t *tick) runSteps(ctx context.Context, all []Enrolment) error {
	if err := t.findEarlierEmails(ctx, all); err != nil {
		return err
	}
	for i := range all {
		e := &all[i]
		err := t.tx.Savepoint(ctx, func() error { return t.runStep(ctx, e) })
		switch {
		case err == nil:
		case postgres.Lost(err) || postgres.Away(err) || ctx.Err() != nil:
			return err
		default:
			clear(t.stored) // the rows of groups that the step has written are rolled back
			t.Log.ErrorContext(ctx, "step failed", "enrolment", e.ID.String(), "step", e.Step, "error", err)
			at := t.now.Add(retryStep)
			t.tx.Queue(`UPDATE enrolment SET due_at = $3 WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID, at)
			states.Due(t.tx, e.Group, at)
		}
	}

	return nil
}
