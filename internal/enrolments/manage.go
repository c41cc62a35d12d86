package enrolments

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Reasons of states that people cause.
const (
	PausedByPerson  = "paused_by_user"
	RemovedByPerson = "removed_by_user"
	Skip            = "skipped"
)

// lockOpen returns an open enrolment, locked until tx ends.
func lockOpen(ctx context.Context, tx *postgres.Tx, enrolment id.ID) (Enrolment, error) {
	e, err := readOne(ctx, tx, enrolment, " FOR UPDATE")
	if err == nil && e.EndedAt != nil {
		return e, fault.New(fault.Conflict, "The enrolment has ended.")
	}
	return e, err
}

// Pause pauses an open enrolment until it is resumed. An email that is not being transmitted yet is not sent. by is who
// pauses it, "user/<id>". An ended enrolment is a conflict fault.
func Pause(ctx context.Context, tx *postgres.Tx, enrolment id.ID, by string) (Enrolment, error) {
	e, err := lockOpen(ctx, tx, enrolment)
	if err != nil || e.State == states.Paused {
		return e, err
	}
	return moveOne(ctx, tx, enrolment, states.To{State: states.Paused, Reason: PausedByPerson}, by)
}

// Stop ends an open enrolment. An ended one is returned unchanged.
func Stop(ctx context.Context, tx *postgres.Tx, enrolment id.ID, by string) (Enrolment, error) {
	e, err := readOne(ctx, tx, enrolment, " FOR UPDATE")
	if err != nil || e.EndedAt != nil {
		return e, err
	}
	return moveOne(ctx, tx, enrolment, states.To{State: states.Removed, Reason: RemovedByPerson}, by)
}

func moveOne(ctx context.Context, tx *postgres.Tx, enrolment id.ID, to states.To, by string) (Enrolment, error) {
	all, err := states.Move(ctx, tx, to, states.Cause{Text: by}, `n.id = $8`, enrolment)
	if err != nil {
		return Enrolment{}, err
	}
	return all[0], nil
}

// Resume lets a paused enrolment go on: when it would have, or now if that time has passed. An enrolment that is not
// paused is returned unchanged; an ended one is a conflict fault.
func Resume(ctx context.Context, tx *postgres.Tx, enrolment id.ID, by string) (Enrolment, error) {
	e, err := lockOpen(ctx, tx, enrolment)
	if err != nil || e.State != states.Paused {
		return e, err
	}
	all, err := resumePaused(ctx, tx, by, `n.id = $3`, enrolment)
	if err != nil {
		return e, err
	}
	return all[0], nil
}

// onItsWay is the condition that the email of the current step of an enrolment n is not settled.
const onItsWay = `EXISTS (SELECT FROM email e WHERE e.org_id = $1 AND e.enrolment_id = n.id AND e.step = n.step
	AND e.status IN ('planned', 'transmitting', 'unknown'))`

// resumePaused resumes the paused enrolments n that where selects; its arguments begin with $3. They must be locked:
// the state of their emails must not change. An email that was being transmitted when its enrolment was paused is still
// on its way.
func resumePaused(ctx context.Context, tx *postgres.Tx, cause, where string, args ...any) ([]Enrolment, error) {
	// The earlier one of the two clocks: Postgres's may be ahead and be set back.
	now := fmt.Sprintf("least(clock_timestamp(), $%d)", 3+len(args))
	args = append(args, time.Now())
	all, err := collectChanged(ctx, tx, `
		WITH found AS (
			SELECT n.id, n.step, `+onItsWay+` AS sending FROM enrolment n
			WHERE n.org_id = $1 AND n.state = 'paused' AND `+where+`
		), n AS (
			UPDATE enrolment n SET state = CASE WHEN f.sending THEN 'sending' ELSE 'active' END, reason = '',
				resume_at = NULL, kept_due_at = NULL, state_at = clock_timestamp(), edit = n.edit + 1,
				due_at = CASE WHEN f.sending OR n.task_id IS NOT NULL AND n.kept_due_at IS NULL THEN NULL
					ELSE greatest(n.kept_due_at, `+now+`) END
			FROM found f WHERE n.org_id = $1 AND n.id = f.id
			RETURNING n.*
		), announced AS (
			INSERT INTO enrolment_history (org_id, enrolment_id, id, at, from_state, to_state, step, cause)
			SELECT $1, f.id, uuidv7_at(clock_timestamp()), clock_timestamp(), 'paused',
				CASE WHEN f.sending THEN 'sending' ELSE 'active' END, f.step, $2 FROM found f
		)
		SELECT `+states.Columns+` FROM n`, append([]any{tx.Org(), cause}, args...)...)
	if err != nil {
		return nil, err
	}

	for i := range all {
		if all[i].DueAt != nil {
			states.Due(tx, all[i].Group, all[i].DueAt.Time)
		}
	}

	return all, nil
}

// SkipStep leaves out the step that is due or waits, and goes on with the one behind it, now. An enrolment whose email
// is on its way, or that has ended, is a conflict fault.
func SkipStep(ctx context.Context, tx *postgres.Tx, enrolment id.ID, by string) (Enrolment, error) {
	e, err := lockOpen(ctx, tx, enrolment)
	if err != nil {
		return e, err
	}
	if e.State == states.Sending {
		return e, fault.New(fault.Conflict, "The email of the step is on its way.")
	}
	v, err := sequences.Load(ctx, tx, e.SequenceID, e.Version)
	if err != nil {
		return e, err
	}

	next := steps.After(v.Steps, e.Step)
	if next == nil {
		return moveOne(ctx, tx, enrolment, states.To{State: states.Finished, Reason: Skip}, by)
	}

	p, err := newGroupPlan(v)
	if err != nil {
		return e, err
	}

	group, now := p.addGroup(next, e.MailboxID, e.TimeZone), wire.Now()
	if err := p.queueGroups(tx, now.Time); err != nil {
		return e, err
	}

	tx.Queue(`UPDATE enrolment SET step = $3, step_number = step_number + 1, grp = $4, task_id = NULL, until_at = NULL,
			due_at = CASE WHEN state = 'paused' THEN NULL ELSE $5::timestamptz END,
			kept_due_at = CASE WHEN state = 'paused' THEN $5::timestamptz END, edit = edit + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), enrolment, next.Key, group, now)
	states.Record(tx, states.History{
		Enrolment: enrolment, From: e.State, To: e.State, Step: next.Key, Cause: Skip + " by " + by,
	})
	states.Due(tx, group, now.Time)

	return Get(ctx, tx, enrolment)
}

// endAtOnce is how many enrolments one call of EndAll ends.
const endAtOnce = 2000

// EndAll ends open enrolments of a sequence, at most two thousand at once; the tick ends the rest if the sequence is
// archived. reason is the reason of the enrolments, such as archived. It reports whether there are more.
func EndAll(ctx context.Context, tx *postgres.Tx, sequence id.ID, reason, by string) (more bool, err error) {
	all, err := states.Move(ctx, tx, states.To{State: states.Removed, Reason: reason}, states.Cause{Text: causeOf(by)},
		`n.id IN (SELECT o.id FROM enrolment o WHERE o.org_id = $1 AND o.sequence_id = $8
			AND o.state = ANY ($9::text[]) LIMIT $10) AND `+states.Open, sequence, states.All()[:4], endAtOnce)
	if err != nil {
		return false, err
	}
	if len(all) == endAtOnce {
		states.Wake(tx, sequence)
		return true, nil
	}
	return false, nil
}

// WakeAll lets the enrolments of a sequence go on that was resumed or activated.
func WakeAll(tx *postgres.Tx, sequence id.ID) { states.Wake(tx, sequence) }

// collectChanged returns the enrolments that a statement returns with states.Columns.
func collectChanged(ctx context.Context, tx *postgres.Tx, sql string, args ...any) ([]Enrolment, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("change enrolments: %w", err)
	}
	all, err := pgx.CollectRows(rows, states.Scan)
	if err != nil {
		return nil, fmt.Errorf("change enrolments: %w", err)
	}
	return all, nil
}

// stepDone announces that the current step of an enrolment is done.
func stepDone(ctx context.Context, tx *postgres.Tx, e *Enrolment) error {
	return events.Announce(ctx, tx, events.SequenceStepCompleted{Enrolment: e.Event()})
}

// dueAt returns when a step is due whose delay begins at a time.
func (p *plan) dueAt(s *steps.Step, zone string, at time.Time) (time.Time, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return at, fmt.Errorf("zone of enrolment: %w", err)
	}
	return s.Delay.After(at, p.windows, location), nil
}
