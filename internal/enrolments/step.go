package enrolments

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

type versionKey struct {
	sequence id.ID
	number   int
}

// loaded is a version with what is derived from it.
type loaded struct {
	*sequences.Version
	*plan
	goal *filter.Filter // nil: none
}

// loadVersion returns a version, which is loaded once a tick.
func (t *tick) loadVersion(ctx context.Context, sequence id.ID, number int) (*loaded, error) {
	key := versionKey{sequence, number}
	if l, ok := t.versions[key]; ok {
		return l, nil
	}
	v, err := sequences.Load(ctx, t.tx, sequence, number)
	if err != nil {
		return nil, err
	}

	l := &loaded{Version: v}
	if l.plan, err = newGroupPlan(v); err != nil {
		return nil, err
	}

	if v.Goal != nil {
		raw, err := json.Marshal(v.Goal)
		if err != nil {
			return nil, fmt.Errorf("encode goal: %w", err)
		}
		if l.goal, err = contacts.ParseFilter(ctx, t.tx, raw); err != nil {
			return nil, fmt.Errorf("read goal: %w", err)
		}
	}
	t.versions[key] = l

	return l, nil
}

// activeVersion returns the active version of a sequence, or nil.
func (t *tick) activeVersion(ctx context.Context, sequence id.ID) (*loaded, error) {
	at, err := sequences.StateOf(ctx, t.tx, sequence)
	if fault.Is(err, fault.NotFound) || err == nil && at.Version == 0 {
		return nil, nil //nolint:nilnil // no version
	}
	if err != nil {
		return nil, err
	}
	return t.loadVersion(ctx, sequence, at.Version)
}

// earlier is an email of an enrolment's current step that was written before and not cancelled.
type earlier struct {
	id     id.ID
	status string
	reason string
}

// findEarlierEmails finds the emails of the current steps that exist already.
func (t *tick) findEarlierEmails(ctx context.Context, all []Enrolment) error {
	t.earlier = map[id.ID]earlier{}
	if len(all) == 0 {
		return nil
	}
	ids, keys := make([]id.ID, len(all)), make([]string, len(all))
	for i := range all {
		ids[i], keys[i] = all[i].ID, all[i].Step
	}
	rows, err := t.tx.Query(ctx, `SELECT e.enrolment_id, e.id, e.status, e.status_reason
		FROM unnest($2::uuid[], $3::text[]) AS u (enrolment, step)
			JOIN email e ON e.org_id = $1 AND e.enrolment_id = u.enrolment AND e.step = u.step
		WHERE e.enrolment_id IS NOT NULL AND e.status <> 'cancelled'`, t.tx.Org(), ids, keys)
	if err != nil {
		return fmt.Errorf("find emails of steps: %w", err)
	}

	var enrolment id.ID
	var found earlier
	if _, err := pgx.ForEachRow(rows, []any{&enrolment, &found.id, &found.status, &found.reason}, func() error {
		t.earlier[enrolment] = found
		return nil
	}); err != nil {
		return fmt.Errorf("find emails of steps: %w", err)
	}

	return nil
}

// runStep executes the current step of a locked enrolment.
func (t *tick) runStep(ctx context.Context, e *Enrolment) error {
	v, err := t.loadVersion(ctx, e.SequenceID, e.Version)
	if err != nil {
		return err
	}
	s := steps.Find(v.Steps, e.Step)
	if s == nil {
		return t.endEnrolment(ctx, e, states.To{State: states.Failed, Reason: "step_unknown"}, "step")
	}

	if v.goal != nil {
		if met, err := t.matchesFilter(ctx, e, v.goal, steps.Facts{}); err != nil || met {
			if err != nil {
				return t.orGone(ctx, e, err)
			}
			return t.endEnrolment(ctx, e, states.To{State: states.GoalMet, Reason: "goal"}, "goal")
		}
	}
	switch s.Kind {
	case steps.KindEmail:
		err = t.runEmailStep(ctx, e, v, s)
	case steps.KindTask:
		err = t.runTaskStep(ctx, e, v, s)
	case steps.KindCondition:
		err = t.runConditionStep(ctx, e, v, s)
	case steps.KindUpdate:
		err = t.runUpdateStep(ctx, e, v, s)
	case steps.KindWebhook:
		err = t.runWebhookStep(ctx, e, v, s)
	default:
		err = t.goOn(ctx, e, v, steps.After(v.Steps, s.Key))
	}

	return t.orGone(ctx, e, err)
}

// orGone ends the enrolment if err says that its contact is archived or gone, and returns err otherwise.
func (t *tick) orGone(ctx context.Context, e *Enrolment, err error) error {
	if _, gone := err.(goneError); gone { //nolint:errorlint // it is never wrapped
		return t.endEnrolment(ctx, e, states.To{State: states.Removed, Reason: "contact_archived"}, "contact_archived")
	}
	return err
}

type goneError struct{}

func (goneError) Error() string { return "the contact is archived" }

// readContact returns the live contact of an enrolment.
func (t *tick) readContact(ctx context.Context, e *Enrolment) (contacts.Row, error) {
	row, err := contacts.Get(ctx, t.tx, e.ContactID, false)
	if fault.Is(err, fault.NotFound) {
		return row, goneError{}
	}
	return row, err
}

// matchesFilter reports whether the contact of an enrolment matches a filter.
func (t *tick) matchesFilter(ctx context.Context, e *Enrolment, f *filter.Filter, facts steps.Facts) (bool, error) {
	row, err := t.readContact(ctx, e)
	if err != nil {
		return false, err
	}
	return f.Match(steps.Record(contacts.RecordOf(&row.Contact), facts)), nil
}
