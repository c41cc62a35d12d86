package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// Bounds of what a model sees.
const (
	latestEntries    = 20 // of the timeline
	latestEnrolments = 3
	latestMessages   = 5    // of a thread
	maxExcerpt       = 2000 // characters of a mail
)

// modelContext is what a model reads about a contact, and the records it comes from.
type modelContext struct {
	record  map[string]any
	sources []draftSource
}

func (m *modelContext) addSource(kind string, i id.ID) {
	m.sources = append(m.sources, draftSource{kind, i})
}

// contextPart adds a part to what a model reads about a contact.
type contextPart func(ctx context.Context, tx *postgres.Tx, contact id.ID, m *modelContext) error

// contextOf returns what a model reads about a live contact: its fields, its timeline, and the parts.
func (a *App) contextOf(ctx context.Context, contact id.ID, parts ...contextPart) (*modelContext, error) {
	m := &modelContext{record: map[string]any{}}
	err := a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) error {
		for _, part := range append([]contextPart{addContact}, parts...) {
			if err := part(ctx, tx, contact, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	return m, nil
}

// addContact adds the fields of the contact and its timeline.
func addContact(ctx context.Context, tx *postgres.Tx, contact id.ID, m *modelContext) error {
	row, err := contacts.Get(ctx, tx, contact, false)
	if err != nil {
		return err
	}

	within, err := merge.Within(ctx, tx, contact)
	if err != nil {
		return err
	}

	entries, err := events.Timeline(ctx, tx, append([]id.ID{contact}, within...), nil, nil, latestEntries)
	if err != nil {
		return err
	}

	m.addSource("contact", contact)
	timeline := make([]map[string]any, len(entries))
	for i, e := range entries {
		timeline[i] = map[string]any{"type": e.Type, "at": e.At, "changes": e.Changes}
		m.addSource("event", e.ID)
	}

	c := &row.Contact
	m.record["contact"] = map[string]any{
		"email": c.Email, "first_name": c.FirstName, "last_name": c.LastName, "job_title": c.JobTitle,
		"source": c.Source, "time_zone": c.TimeZone,
		"stage": c.Stage, "tag": c.Tag, "attributes": c.Attributes, "lead_score": c.LeadScore,
		"created_at": c.CreatedAt,
	}
	m.record["timeline"] = timeline

	return nil
}

// addEnrolments adds the latest enrolments of the contact.
func addEnrolments(ctx context.Context, tx *postgres.Tx, contact id.ID, m *modelContext) error {
	all, err := enrolments.List(ctx, tx, &enrolments.Filter{Contact: &contact}, id.ID{}, latestEnrolments)
	if err != nil {
		return err
	}

	shown := make([]map[string]any, len(all))
	for i := range all {
		if shown[i], _, err = m.enrolmentFacts(ctx, tx, &all[i]); err != nil {
			return err
		}
	}

	m.record["enrolments"] = shown
	return nil
}

// enrolmentFacts returns what a model reads about an enrolment, and its last email; nil: it has none.
func (m *modelContext) enrolmentFacts(ctx context.Context, tx *postgres.Tx, e *enrolments.Enrolment) (map[string]any,
	*emails.Row, error,
) {
	v, err := sequences.Load(ctx, tx, e.SequenceID, e.Version)
	if err != nil {
		return nil, nil, err
	}

	m.addSource("enrolment", e.ID)
	out := map[string]any{
		"sequence": v.Name, "state": e.State, "reason": e.Reason, "step": e.Step, "due_at": e.DueAt,
		"enrolled_at": e.CreatedAt, "ended_at": e.EndedAt,
	}
	if s := steps.Find(v.Steps, e.Step); s != nil {
		out["step"] = stepOutline(s)
	}

	last, err := emails.List(ctx, tx, &emails.Filter{Enrolment: &e.ID}, id.ID{}, 1)
	if err != nil || len(last) == 0 {
		return out, nil, err
	}

	m.addSource("email", last[0].ID)
	out["last_email"] = map[string]any{
		"step": last[0].Step, "subject": last[0].Subject, "status": last[0].Status, "sent_at": last[0].SentAt,
		"facts": last[0].Facts,
	}

	return out, &last[0], nil
}

// stepOutline returns what a model reads about a step beside others.
func stepOutline(s *steps.Step) map[string]any {
	out := map[string]any{"key": s.Key, "kind": s.Kind, "delay": s.Delay}
	switch {
	case s.Email != nil:
		out["subject"] = s.Email.Subject
	case s.Task != nil:
		out["title"] = s.Task.Title
	}
	return out
}
