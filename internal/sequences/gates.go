package sequences

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// Gates has what an activation asks of other packages.
type Gates struct {
	PostalAddress string // of the org; "": none
	// AllowPrivate spares the senders: their domains need no records.
	AllowPrivate bool
	// Lint returns what is to be looked at in a mail.
	Lint func(source compose.Source) ([]compose.Finding, error)
}

// Codes of the errors that refuse an activation.
const (
	needsSteps       = "steps_required"
	needsAddress     = "postal_address_required"
	needsUnsubscribe = "unsubscribe_missing"
	needsVerified    = "sender_unverified"
	needsMailbox     = "mailbox_not_active"
	needsField       = "merge_unknown"
)

// Check returns the validation fault with everything that keeps s from being activated, or nil.
func (g *Gates) Check(ctx context.Context, tx *postgres.Tx, s *Sequence) error {
	f := form.At("")
	if len(s.Steps) == 0 {
		f.Wrong("steps", needsSteps, "A sequence needs a step.")
	}
	sends := slices.ContainsFunc(s.Steps, func(st steps.Step) bool { return st.Email != nil })
	if sends && g.PostalAddress == "" {
		f.Wrong("postal_address", needsAddress,
			"The organization needs a postal address: PUT /api/v1/org/sending.")
	}
	if err := g.checkSenders(ctx, tx, f, s.MailboxIDs); err != nil {
		return err
	}
	if err := checkSegment(ctx, tx, f, s.EnrollSegment); err != nil {
		return err
	}

	for i := range s.Steps {
		if e := s.Steps[i].Email; e != nil {
			if err := g.checkEmail(f, "steps/"+strconv.Itoa(i)+"/email", e); err != nil {
				return err
			}
		}
	}

	return f.Fault()
}

// sender is what an activation needs to know of a mailbox.
type sender struct {
	id               id.ID
	kind, status     string
	spf, dkim, dmarc string
}

const recordPass = "pass"

func (s *sender) isVerified() bool {
	return s.kind == "sandbox" || (s.spf == recordPass || s.dkim == recordPass) && s.dmarc == recordPass
}

func (g *Gates) checkSenders(ctx context.Context, tx *postgres.Tx, f *form.Form, mailboxes []id.ID) error {
	if len(mailboxes) == 0 {
		f.Wrong("mailbox_ids", needsMailbox, "A sequence needs an active mailbox.")
		return nil
	}

	rows, err := tx.Query(ctx, `
		SELECT id, kind, CASE WHEN status = 'held' AND held_until <= now() THEN 'active' ELSE status END,
			spf, dkim, dmarc
		FROM mailbox WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND archived_at IS NULL`, tx.Org(), mailboxes)
	if err != nil {
		return fmt.Errorf("read mailboxes: %w", err)
	}

	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sender, err error) {
		return s, row.Scan(&s.id, &s.kind, &s.status, &s.spf, &s.dkim, &s.dmarc)
	})
	if err != nil {
		return fmt.Errorf("read mailboxes: %w", err)
	}

	for i, mailbox := range mailboxes {
		at := "mailbox_ids/" + strconv.Itoa(i)
		n := slices.IndexFunc(found, func(s sender) bool { return s.id == mailbox })
		switch {
		case n < 0:
			f.Wrong(at, needsMailbox, "There is no such mailbox any more.")
		case found[n].status != "active":
			f.Wrong(at, needsMailbox, "The mailbox is "+found[n].status+".")
		case !g.AllowPrivate && !found[n].isVerified():
			f.Wrong(at, needsVerified,
				"The domain of the mailbox needs an SPF or DKIM record and a DMARC record.")
		}
	}

	return nil
}

// checkSegment records a segment from which contacts cannot be enrolled; nil is none.
func checkSegment(ctx context.Context, tx *postgres.Tx, f *form.Form, segment *id.ID) error {
	if segment == nil {
		return nil
	}

	var kind string
	err := tx.QueryRow(ctx, `SELECT kind FROM segment WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`,
		[]any{tx.Org(), *segment}, &kind)
	switch {
	case postgres.None(err):
		f.Wrong("enroll_segment", "unknown_segment", "There is no such segment.")
	case err != nil:
		return fmt.Errorf("read segment: %w", err)
	case kind != "dynamic":
		f.Wrong("enroll_segment", "not_dynamic", "Contacts enter only dynamic segments; enrol those of a static one.")
	}

	return nil
}

func (g *Gates) checkEmail(f *form.Form, at string, e *steps.Email) error {
	if len(e.Variants) == 0 {
		return g.checkMail(f, at, e.Source(""))
	}
	for i := range e.Variants {
		if err := g.checkMail(f, at+"/variants/"+strconv.Itoa(i), e.Source(e.Variants[i].Key)); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gates) checkMail(f *form.Form, at string, source compose.Source) error {
	findings, err := g.Lint(source)
	if fault.Of(err) != nil {
		f.Wrong(at, "invalid_template", fault.Of(err).Detail)
		return nil //nolint:nilerr // the form has the error
	}
	if err != nil {
		return err
	}

	for _, found := range findings {
		switch found.Code {
		case "unknown_field":
			f.Wrong(at+found.Pointer, needsField, found.Message)
		case needsUnsubscribe:
			f.Wrong(at+found.Pointer, needsUnsubscribe, found.Message)
		}
	}

	return nil
}
