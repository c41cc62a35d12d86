package templates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Preview is a mail as one contact would get it.
type Preview struct {
	Subject *string           `json:"subject" doc:"Subject; null if the mail cannot be rendered, as are html and text"`
	HTML    *string           `json:"html" doc:"The HTML part, sanitised, with inlined styles"`
	Text    *string           `json:"text" doc:"The text part"`
	Links   []compose.Link    `json:"links" doc:"The links of the HTML, in the order of the document"`
	Lint    []compose.Finding `json:"lint" doc:"What to look at before the mail is sent"`
}

// previewToken is the token of the links in previews, which must not end mails to the contact.
const previewToken = "preview"

// Preview renders a mail as the live contact would get it from the org's mailbox, or from its first one if mailbox is
// nil. Errors of the template that concern this contact are findings. tx may be read-only.
func (s *Service) Preview(ctx context.Context, tx *postgres.Tx, template *id.ID, given compose.Source,
	contact id.ID, mailbox *id.ID,
) (*Preview, error) {
	source, err := sourceOf(ctx, tx, template, given)
	if err != nil {
		return nil, err
	}

	parsed, err := compose.Parse(source)
	if err != nil {
		return nil, Fault(err)
	}

	sender, err := senderOf(ctx, tx, mailbox)
	if err != nil {
		return nil, err
	}

	stored, err := Collect(ctx, tx, contact, sender, s.PublicURL+UnsubscribePath+previewToken)
	if err != nil {
		return nil, unknownRecord(err, "contact")
	}

	values, err := Thaw(stored)
	if err != nil {
		return nil, err
	}

	known, err := lintAudience(ctx, tx, parsed.Uses())
	if err != nil {
		return nil, err
	}

	out := &Preview{Links: []compose.Link{}}
	mail, failed := parsed.Render(values, sender.SignatureHTML)
	if failed != nil {
		mail = nil
	}
	out.Lint = append(renderFindings(failed), parsed.Lint(mail, known)...)
	if mail != nil {
		out.Subject = &mail.Subject
		out.HTML = &mail.HTML
		out.Text = &mail.Text
		out.Links = append(out.Links, mail.Links...)
	}

	return out, nil
}

// Lint returns what to look at in a mail that is not rendered for a contact. A mail that cannot be parsed is a
// validation fault. tx may be read-only.
func Lint(ctx context.Context, tx *postgres.Tx, source compose.Source) ([]compose.Finding, error) {
	parsed, err := compose.Parse(source)
	if err != nil {
		return nil, Fault(err)
	}
	known, err := lintAudience(ctx, tx, parsed.Uses())
	if err != nil {
		return nil, err
	}
	return parsed.Lint(nil, known), nil
}

// renderFindings returns the reason why a mail cannot be rendered, or nothing.
func renderFindings(err error) []compose.Finding {
	if missing, ok := errors.AsType[*compose.MissingError](err); ok {
		return []compose.Finding{{
			Code: "merge_missing", Severity: "error", Pointer: missing.Pointer, Field: missing.Field,
			Message: "This contact has no value for " + missing.Field + ", and there is no default.",
		}}
	}
	if wrong, ok := errors.AsType[*compose.RenderError](err); ok {
		return []compose.Finding{{
			Code: "render_failed", Severity: "error", Pointer: wrong.Pointer, Message: asSentence(wrong.Err.Error()),
		}}
	}
	return []compose.Finding{}
}

// senderOf returns the sender of a mailbox of the org, or of its first one if mailbox is nil.
func senderOf(ctx context.Context, tx *postgres.Tx, mailbox *id.ID) (s Sender, err error) {
	err = tx.QueryRow(ctx, `SELECT from_name, signature_html FROM mailbox
		WHERE org_id = $1 AND archived_at IS NULL AND ($2::uuid IS NULL OR id = $2) ORDER BY created_at, id LIMIT 1`,
		[]any{tx.Org(), mailbox}, &s.Name, &s.SignatureHTML)
	if postgres.None(err) {
		if mailbox == nil {
			return Sender{}, nil
		}
		return Sender{}, fault.Invalid("mailbox_id", "unknown_mailbox", "There is no such mailbox.")
	}
	if err != nil {
		return Sender{}, fmt.Errorf("read mailbox: %w", err)
	}
	return s, nil
}

// quoteJSON returns s as a JSON string.
func quoteJSON(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string
	return string(b)
}
