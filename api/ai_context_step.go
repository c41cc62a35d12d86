package api

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// stepPart returns the part with the email of a step: the sequence, the step, the contact's latest enrolment in it, and
// the thread that the email belongs to. An unknown sequence is a not_found fault, and a step that sends no email a
// validation fault.
func stepPart(sequence id.ID, key string) contextPart {
	return func(ctx context.Context, tx *postgres.Tx, contact id.ID, m *modelContext) error {
		row, err := sequences.Get(ctx, tx, sequence, false)
		if err != nil {
			return err
		}

		s := steps.Find(row.Value.Steps, key)
		if s == nil || s.Email == nil {
			return fault.Invalid("step", "step_unknown", "The sequence has no such step that sends an email.")
		}

		m.addSource("sequence", sequence)
		outline := make([]map[string]any, len(row.Value.Steps))
		for i := range row.Value.Steps {
			outline[i] = stepOutline(&row.Value.Steps[i])
		}

		source := s.Email.Source(s.Variant(contact, nil))
		m.record["sequence"] = map[string]any{"name": row.Value.Name, "steps": outline}
		m.record["step"] = map[string]any{
			"key": key, "thread": s.Email.Thread, "subject": source.Subject, "text": truncateText(source.Text),
			"html": truncateText(source.HTML),
		}
		all, err := enrolments.List(ctx, tx, &enrolments.Filter{Sequence: &sequence, Contact: &contact}, id.ID{}, 1)
		if err != nil {
			return err
		}

		var thread *id.ID
		if len(all) > 0 {
			shown, last, err := m.enrolmentFacts(ctx, tx, &all[0])
			if err != nil {
				return err
			}
			if m.record["enrolment"] = shown; last != nil {
				thread = &last.ThreadID
			}
		}

		return m.addThread(ctx, tx, contact, thread)
	}
}

// addThread adds the latest messages of a thread; nil: of the contact's latest one with an answer, if there is one.
func (m *modelContext) addThread(ctx context.Context, tx *postgres.Tx, contact id.ID, thread *id.ID) error {
	if thread == nil {
		found, err := inbound.ListThreads(ctx, tx, &inbound.Filter{Contact: &contact}, nil, 1)
		if err != nil || len(found) == 0 {
			return err
		}
		thread = &found[0].ID
	}

	_, all, err := inbound.GetThread(ctx, tx, *thread)
	if fault.Is(err, fault.NotFound) { // nothing of it was sent yet
		return nil
	}
	if err != nil {
		return err
	}

	all = all[max(len(all)-latestMessages, 0):]
	shown := make([]map[string]any, len(all))
	for i := range all {
		kind := "message"
		if all[i].Direction == inbound.Out {
			kind = "email"
		}
		m.addSource(kind, all[i].ID)
		shown[i] = map[string]any{
			"direction": all[i].Direction, "at": all[i].ReceivedAt, "subject": all[i].Subject, "class": all[i].Class,
			"text": truncateText(all[i].ReplyText),
		}
	}

	m.record["thread"] = shown

	return nil
}

// truncateText returns the beginning of a text.
func truncateText(s string) string {
	if all := []rune(s); len(all) > maxExcerpt {
		return string(all[:maxExcerpt]) + "…"
	}
	return s
}
