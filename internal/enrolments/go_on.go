package enrolments

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// endEnrolment ends or pauses an enrolment.
func (t *tick) endEnrolment(ctx context.Context, e *Enrolment, to states.To, cause string) error {
	_, err := states.Move(ctx, t.tx, to, states.Cause{Text: cause}, `n.id = $8`, e.ID)
	return err
}

// goOn records that the current step is done, and makes next due; nil: the enrolment is finished.
func (t *tick) goOn(ctx context.Context, e *Enrolment, v *loaded, next *steps.Step) error {
	if err := stepDone(ctx, t.tx, e); err != nil {
		return err
	}
	if next == nil {
		return t.endEnrolment(ctx, e, states.To{State: states.Finished, Reason: states.Completed}, "step done")
	}
	now := wire.Now()
	due, err := v.dueAt(next, e.TimeZone, now.Time)
	if err != nil {
		return err
	}

	group, err := t.groupOf(v, next, e)
	if err != nil {
		return err
	}

	t.tx.Queue(`UPDATE enrolment SET state = 'active', reason = '', step = $3, step_number = step_number + 1, grp = $4,
			due_at = $5, until_at = NULL, task_id = NULL, edit = edit + 1, state_at = clock_timestamp()
		WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID, next.Key, group, due)
	states.Record(t.tx, states.History{
		Enrolment: e.ID, From: e.State, To: states.Active, Step: next.Key, Cause: "step done",
	})
	states.Due(t.tx, group, due)

	return nil
}

// groupOf returns the group of a step of an enrolment, and stores it if this tick has not done so yet.
func (t *tick) groupOf(v *loaded, s *steps.Step, e *Enrolment) (int64, error) {
	group := v.addGroup(s, e.MailboxID, e.TimeZone)
	if t.stored[group] {
		v.forgetGroup(group)
		return group, nil
	}
	t.stored[group] = true
	return group, v.queueGroups(t.tx, t.now)
}
