package enrolments

import (
	"context"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// runEmailStep writes the email of a step with its job. The enrolment goes on with the outcome.
func (t *tick) runEmailStep(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step) error {
	if was, ok := t.earlier[e.ID]; ok {
		return t.settleEarlierEmail(ctx, e, v, s, was)
	}
	n, err := t.composeEmail(ctx, e, v, s)
	if err == nil {
		_, err = t.Emails.Create(ctx, t.tx, n)
	}
	switch {
	case err == nil:
	case fault.Is(err, fault.Suppressed):
		return t.endEnrolment(ctx, e, states.To{State: states.Unsubscribed, Reason: "suppressed"}, "suppressed")
	case fault.Is(err, fault.MergeMissing):
		return t.endEnrolment(ctx, e, states.To{State: states.Failed, Reason: "merge_missing"}, "merge_missing")
	case fault.Is(err, fault.ValidationFailed):
		return t.endEnrolment(ctx, e, states.To{State: states.Failed, Reason: "invalid_email"}, "invalid_email")
	case fault.Is(err, fault.MailboxNotActive), fault.Is(err, fault.NotFound):
		at := t.earliest.Add(recheck)
		t.tx.Queue(`UPDATE enrolment SET due_at = $3 WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID, at)
		states.Due(t.tx, e.Group, at)
		return nil
	default:
		return err
	}
	if err := t.queueSending(e, v, s, n.ID); err != nil {
		return err
	}

	return t.Send(ctx, t.tx, n.ID, e.MailboxID)
}

// composeEmail returns the email of a step. Its parts are rendered for the contact.
func (t *tick) composeEmail(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step) (*emails.New, error) {
	m, err := t.readMailbox(ctx, e.MailboxID)
	if err != nil {
		return nil, err
	}
	row, err := t.readContact(ctx, e)
	if err != nil {
		return nil, err
	}

	stopped, err := t.stoppedVariants(ctx, e.SequenceID, s)
	if err != nil {
		return nil, err
	}

	variant := s.Variant(e.ID, stopped)
	n := &emails.New{
		ID: id.New(), Mailbox: m, ContactID: e.ContactID, ToEmail: row.Email, Purpose: emails.Marketing,
		ToName:   strings.TrimSpace(row.FirstName + " " + row.LastName),
		Tracking: emails.Tracking{Opens: m.TrackOpens, Clicks: m.TrackClicks}, By: e.By,
		Automated: &emails.Automated{
			Enrolment: e.ID, Step: s.Key, Variant: variant, LateHours: v.LateAfterHours,
		},
	}
	source := s.Email.Source(variant)
	if s.Email.Thread == steps.Reply && e.LastEmail != nil {
		n.InReplyTo = e.LastEmail
	}
	subject, err := t.answeredSubject(ctx, n, &source)
	if err != nil {
		return nil, err
	}

	if n.LinkBase, err = t.linkBase(ctx); err != nil {
		return nil, err
	}

	renderer := &templates.Service{Box: t.Templates.Box, PublicURL: n.LinkBase}
	mail, err := renderer.Render(ctx, t.tx, &templates.Mail{
		Source: source, Contact: e.ContactID, Email: n.ID,
		Sender: templates.Sender{Name: m.FromName, SignatureHTML: m.SignatureHTML},
	})
	if err != nil {
		return nil, templates.Fault(err)
	}

	n.Subject, n.HTML, n.Text = mail.Subject, mail.HTML, mail.Text
	if subject != "" {
		n.Subject = subject
	}
	if strings.TrimSpace(n.Subject) == "" {
		return nil, fault.Invalid("subject", "required", "The mail has no subject.")
	}

	n.ListUnsubscribe = []string{mail.UnsubscribeURL}

	return n, nil
}

// stoppedVariants returns the variants of a step that were stopped since they lose. Those of a sequence are read once a
// tick.
func (t *tick) stoppedVariants(ctx context.Context, sequence id.ID, s *steps.Step) ([]string, error) {
	if !s.Email.Auto {
		return nil, nil
	}
	if t.stops[sequence] == nil {
		all, err := comparisons.Read(ctx, t.tx, sequence)
		if err != nil {
			return nil, err
		}
		t.stops[sequence] = all[sequence]
		if t.stops[sequence] == nil {
			t.stops[sequence] = comparisons.Stops{}
		}
	}

	return t.stops[sequence].Of(s.Key), nil
}

// answeredSubject returns the subject of an answer whose source has none: that of the email that it answers. Otherwise
// it returns "".
func (t *tick) answeredSubject(ctx context.Context, n *emails.New, source *compose.Source) (subject string, err error) {
	if n.InReplyTo == nil || strings.TrimSpace(source.Subject) != "" {
		return "", nil
	}
	err = t.tx.QueryRow(ctx, `SELECT subject FROM email WHERE org_id = $1 AND id = $2`, []any{t.tx.Org(), *n.InReplyTo},
		&subject)
	if postgres.None(err) {
		n.InReplyTo = nil
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read subject: %w", err)
	}

	if len(subject) < 3 || !strings.EqualFold(subject[:3], "re:") {
		subject = "Re: " + subject
	}
	source.Subject = "Re" // replaced by the result: a source needs one

	return subject, nil
}

// linkBase returns the base of the links in the org's mails, which is read once a tick.
func (t *tick) linkBase(ctx context.Context) (base string, err error) {
	if t.base == nil {
		if base, err = orgsending.LinkBase(ctx, t.tx, t.Templates.PublicURL); err != nil {
			return "", err
		}
		t.base = &base
	}
	return *t.base, nil
}

// readMailbox returns a mailbox, which is read once a tick.
func (t *tick) readMailbox(ctx context.Context, mailbox id.ID) (*mailboxes.Sending, error) {
	if m, ok := t.boxes[mailbox]; ok {
		return m, nil
	}
	m, err := t.Emails.Mailboxes.ForSending(ctx, t.tx, mailbox)
	if err != nil {
		return nil, err
	}
	t.boxes[mailbox] = m
	return m, nil
}

// queueSending queues that the enrolment sends an email, and how it goes on.
func (t *tick) queueSending(e *Enrolment, v *loaded, s *steps.Step, email id.ID) error {
	key, value, unit, group := "", 0, "", int64(0)
	if next := steps.After(v.Steps, s.Key); next != nil {
		key, value, unit = next.Key, next.Delay.Value, string(next.Delay.Unit)
		var err error
		if group, err = t.groupOf(v, next, e); err != nil {
			return err
		}
	}
	t.tx.Queue(`UPDATE enrolment SET state = 'sending', reason = '', due_at = NULL, next_step = $3, next_value = $4,
			next_unit = $5, next_grp = $6, started_at = coalesce(started_at, clock_timestamp()),
			state_at = clock_timestamp(), edit = edit + 1
		WHERE org_id = $1 AND id = $2`, t.tx.Org(), e.ID, key, value, unit, group)
	states.Record(t.tx, states.History{
		Enrolment: e.ID, From: e.State, To: states.Sending, Step: s.Key, Cause: "due", Email: &email,
	})

	return nil
}

// settleEarlierEmail settles a step whose email was written before: it is not written twice.
func (t *tick) settleEarlierEmail(ctx context.Context, e *Enrolment, v *loaded, s *steps.Step, was earlier) error {
	if err := t.queueSending(e, v, s, was.id); err != nil {
		return err
	}
	m := states.Mail{Email: was.id, Enrolment: e.ID, Step: s.Key}
	switch was.status {
	case emails.Sent:
		return states.Sent(ctx, t.tx, m, t.now, emails.Sent)
	case emails.Failed:
		return states.NotSent(ctx, t.tx, m, states.Unsent{Failed: true, Reason: was.reason})
	}
	return nil
}
