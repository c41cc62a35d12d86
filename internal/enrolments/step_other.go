package enrolments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// runTaskStep creates the task of a step and waits until it is done, or goes on if it is.
func (t *tick) runTaskStep(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step) error {
	if e.TaskID != nil {
		task, err := activities.GetTask(ctx, t.tx, *e.TaskID, false)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err == nil && task.Value.CompletedAt == nil { // it was reopened
			t.tx.Queue(`UPDATE enrolment SET due_at = NULL WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID)
			return nil
		}
		return t.goOn(ctx, e, v, steps.After(v.Steps, s.Key))
	}

	row, err := t.readContact(ctx, e)
	if err != nil {
		return err
	}

	p := &activities.TaskPatch{Title: wire.Some(s.Task.Title)}
	p.ContactID = wire.Some(e.ContactID.String())
	assignee := s.Task.Assignee
	if assignee == nil {
		assignee = row.OwnerID
	}
	if assignee != nil {
		p.AssigneeID = wire.Some(assignee.String())
	}
	if s.Task.Type != steps.Todo {
		p.Description = wire.Some("Type: " + s.Task.Type)
	}
	task, err := activities.CreateTask(ctx, t.tx, p)
	if fault.Is(err, fault.ValidationFailed) {
		return t.endEnrolment(ctx, e, states.To{State: states.Failed, Reason: "invalid_task"}, "invalid_task")
	}
	if err != nil {
		return err
	}

	for _, announced := range activities.TaskEvents(&activities.TaskChange{Row: task}) {
		if err := events.Announce(ctx, t.tx, announced); err != nil {
			return err
		}
	}
	t.tx.Queue(`UPDATE enrolment SET state = 'active', due_at = NULL, task_id = $3, state_at = clock_timestamp(),
		edit = edit + 1 WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID, task.Value.ID)
	states.Record(t.tx, states.History{
		Enrolment: e.ID, From: e.State, To: states.Active, Step: s.Key, Cause: "task created",
	})

	return nil
}

// runConditionStep decides a branch. With within, it is decided as soon as the filter matches, or when the time is
// over.
func (t *tick) runConditionStep(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step) error {
	raw, err := json.Marshal(s.Condition.Filter)
	if err != nil {
		return fmt.Errorf("encode condition: %w", err)
	}
	f, err := contacts.ParserWith(ctx, t.tx, steps.FactTypes())(raw)
	if err != nil {
		return fmt.Errorf("read condition: %w", err)
	}

	facts, err := t.readFacts(ctx, e.ID)
	if err != nil {
		return err
	}

	met, err := t.matchesFilter(ctx, e, f, facts)
	if err != nil {
		return err
	}

	until := e.Until
	if w := s.Condition.Within; w != nil && until == nil {
		at, err := v.dueAt(&steps.Step{Delay: *w}, e.TimeZone, t.now)
		if err != nil {
			return err
		}
		end := wire.At(at)
		until = &end
	}
	if met || until == nil || !until.After(t.now) {
		return t.goOn(ctx, e, v, steps.Branch(v.Steps, s, met))
	}

	next := t.now.Add(checkEvery)
	if next.After(until.Time) {
		next = until.Time
	}
	t.tx.Queue(`UPDATE enrolment SET state = 'active', until_at = $3, due_at = $4 WHERE org_id = $1 AND id = $2`,
		t.tx.Org(), e.ID, *until, next)
	states.Due(t.tx, e.Group, next)

	return nil
}

// readFacts returns what became of the emails of an enrolment.
func (t *tick) readFacts(ctx context.Context, enrolment id.ID) (f steps.Facts, err error) {
	err = t.tx.QueryRow(ctx, `SELECT coalesce(bool_or(replied_at IS NOT NULL), false),
			coalesce(bool_or(clicks > 0), false), coalesce(bool_or(bounced IS NOT NULL), false)
		FROM email WHERE org_id = $1 AND enrolment_id = $2`, []any{t.tx.Org(), enrolment}, &f.Replied, &f.Clicked,
		&f.Bounced)
	if err != nil || !f.Clicked {
		return f, err
	}
	rows, err := t.tx.Query(ctx, `SELECT DISTINCT l.url FROM email e
			JOIN email_fact x ON x.org_id = $1 AND x.email_id = e.id AND x.kind = 'clicked' AND NOT x.machine
			JOIN email_link l ON l.org_id = $1 AND l.email_id = e.id AND l.n = x.link
		WHERE e.org_id = $1 AND e.enrolment_id = $2`, t.tx.Org(), enrolment)
	if err != nil {
		return f, fmt.Errorf("read clicks: %w", err)
	}

	if f.Links, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return f, fmt.Errorf("read clicks: %w", err)
	}

	return f, nil
}

// runUpdateStep changes the contact. If another transaction has locked the contact, which may wait for the enrolment,
// the step is left to a later tick.
func (t *tick) runUpdateStep(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step) error {
	var held bool
	err := t.tx.QueryRow(ctx, `SELECT true FROM contact c JOIN contact_score s ON s.org_id = $1 AND s.contact_id = c.id
		WHERE c.org_id = $1 AND c.id = $2 FOR UPDATE OF c, s SKIP LOCKED`, []any{t.tx.Org(), e.ContactID}, &held)
	if postgres.None(err) {
		if _, err := t.readContact(ctx, e); err != nil {
			return err
		}
		at := t.earliest.Add(busy)
		t.tx.Queue(`UPDATE enrolment SET due_at = $3 WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID, at)
		states.Due(t.tx, e.Group, at)
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock contact: %w", err)
	}

	row, err := t.readContact(ctx, e)
	if err != nil {
		return err
	}

	p, err := bulk.PatchOf(s.Update.Set)
	if err != nil {
		return err
	}

	if len(s.Update.AddTags)+len(s.Update.RemoveTags) > 0 {
		p.Tag = wire.Some(bulk.Retagged(row.Tag, s.Update.AddTags, s.Update.RemoveTags))
	}
	if t.model == nil {
		if t.model, err = t.Model(ctx, t.tx); err != nil {
			return err
		}
	}
	ch, err := contacts.Update(ctx, t.tx, e.ContactID, nil, &p, t.model.Rate)
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return t.endEnrolment(ctx, e, states.To{State: states.Failed, Reason: "invalid_update"}, string(f.Code))
	}
	if err == nil && ch.Changed() {
		if err = contacts.Announce(ctx, t.tx, &ch); err == nil {
			err = t.Changed(ctx, t.tx, []contacts.Change{ch})
		}
	}
	if err != nil {
		return err
	}

	return t.goOn(ctx, e, v, steps.After(v.Steps, s.Key))
}

// runWebhookStep sends sequence.step_reached to the endpoint of a step.
func (t *tick) runWebhookStep(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step) error {
	err := events.SendTo(ctx, t.tx, s.Webhook.EndpointID, events.SequenceStepReached{Enrolment: e.Event()})
	if err != nil {
		return err
	}
	return t.goOn(ctx, e, v, steps.After(v.Steps, s.Key))
}
