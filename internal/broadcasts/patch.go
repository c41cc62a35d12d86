package broadcasts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch of a broadcast, and the body of a create request.
type Patch struct {
	Name      wire.Field[string]
	MailboxID wire.Field[string]
	Segment   wire.Field[string]
	Filter    wire.Field[map[string]any]
	Email     wire.Field[MailPatch]
	SendAt    wire.Field[string]
	LocalTime wire.Field[bool]
	form.Refused
}

// MailPatch changes a BroadcastMail.
type MailPatch struct {
	Subject, HTML, Text, TemplateID wire.Field[string]
	Variants                        wire.Field[[]steps.Variant]
}

func (p *Patch) buildBroadcast(ctx context.Context, tx *postgres.Tx, now wire.Time) (Broadcast, error) {
	b := Broadcast{
		ID: id.New(), Status: Draft, LeftOut: map[string]int{}, CreatedAt: now, UpdatedAt: now,
		Email: BroadcastMail{Variants: []steps.Variant{}},
	}
	f := form.At("")
	f.ReadOnly(p.Sent, &BroadcastState{Broadcast: b})
	form.Missing(f, "name", p.Name)
	return b, p.fillFields(ctx, tx, f, &b)
}

func (p *Patch) applyTo(ctx context.Context, tx *postgres.Tx, was, now *Broadcast) error {
	f := form.At("")
	f.ReadOnly(p.Sent, &BroadcastState{Broadcast: *was}) // one that can be changed waits for nothing
	return p.fillFields(ctx, tx, f, now)
}

func (p *Patch) fillFields(ctx context.Context, tx *postgres.Tx, f *form.Form, b *Broadcast) error {
	f.Required("name", p.Name, &b.Name, form.Name)
	f.ID("mailbox_id", p.MailboxID, &b.MailboxID)
	f.ID("segment", p.Segment, &b.Segment)
	f.Time("send_at", p.SendAt, &b.SendAt)
	p.LocalTime.Apply(&b.LocalTime)
	if p.Filter.Set {
		b.Filter = p.Filter.Value
	}
	if b.Segment != nil && b.Filter != nil {
		f.Wrong("filter", "not_allowed", "The audience is a segment or a filter; clear the other one.")
	}
	p.applyMail(f, &b.Email)
	if err := f.Fault(); err != nil {
		return err
	}

	return p.checkReferences(ctx, tx, f, b)
}

// applyMail applies the parts of the mail, and checks that they can be parsed.
func (p *Patch) applyMail(f *form.Form, m *BroadcastMail) {
	if !p.Email.Set {
		return
	}
	if p.Email.Null {
		f.Wrong("email", "not_nullable", "This field cannot be null.")
		return
	}
	in := p.Email.Value
	in.Subject.Apply(&m.Subject)
	in.HTML.Apply(&m.HTML)
	in.Text.Apply(&m.Text)
	f.ID("email/template_id", in.TemplateID, &m.TemplateID)
	if in.Variants.Set {
		m.Variants = in.Variants.Value
	}
	if m.Variants == nil {
		m.Variants = []steps.Variant{}
	}
	checked := m.asStep()
	if m.HTML == "" && m.Text == "" { // the template has them, or they are missing when it is scheduled
		checked.Email.Text = "-"
	}
	for _, problem := range steps.Check([]steps.Step{checked}) {
		at := strings.TrimPrefix(problem.Pointer, "0/email")
		if problem.Code == "required" || at == "/thread" { // what is missing is looked for when it is scheduled
			continue
		}
		f.Wrong("email"+at, problem.Code, problem.Detail)
	}
}

// asStep returns the mail as a step of a sequence, whose rules it follows.
func (m *BroadcastMail) asStep() steps.Step {
	list := []steps.Step{{
		Key: "broadcast", Kind: "email", Email: &steps.Email{
			Subject: m.Subject, HTML: m.HTML, Text: m.Text, Thread: steps.NewThread, Variants: m.Variants,
		},
	}}
	steps.Complete(list)
	return list[0]
}

// checkReferences checks that what b names exists.
func (p *Patch) checkReferences(ctx context.Context, tx *postgres.Tx, f *form.Form, b *Broadcast) error {
	for _, r := range []struct {
		field, table string
		sent         bool
		id           *id.ID
	}{
		{"mailbox_id", "mailbox", p.MailboxID.Set, b.MailboxID},
		{"segment", "segment", p.Segment.Set, b.Segment},
		{"email/template_id", "template", p.Email.Value.TemplateID.Set, b.Email.TemplateID},
	} {
		if !r.sent || r.id == nil {
			continue
		}
		var one int
		err := tx.QueryRow(ctx, `SELECT 1 FROM `+r.table+` WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`,
			[]any{tx.Org(), *r.id}, &one)
		if postgres.None(err) {
			f.Wrong(r.field, "not_found", "There is no such "+r.table+".")
		} else if err != nil {
			return fmt.Errorf("read %s: %w", r.table, err)
		}
	}
	if p.Filter.Set && b.Filter != nil {
		if err := checkFilter(ctx, tx, b.Filter); err != nil {
			return err
		}
	}

	return f.Fault()
}

// checkFilter returns a validation fault for a filter that is none.
func checkFilter(ctx context.Context, tx *postgres.Tx, given map[string]any) error {
	raw, err := json.Marshal(given)
	if err != nil {
		return fmt.Errorf("encode filter: %w", err)
	}
	_, err = contacts.ParseFilter(ctx, tx, raw)
	if wrong, ok := errors.AsType[*filter.Error](err); ok {
		return wrong.InBody("#/filter")
	}
	return err
}
