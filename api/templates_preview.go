package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/templates"
)

type templatePreviewRequest struct {
	ContactID  string                        `json:"contact_id" format:"uuid" doc:"ID of the contact"`
	TemplateID httpx.Optional[string]        `json:"template_id" required:"false"`
	Template   httpx.Optional[TemplateParts] `json:"template" required:"false"`
	MailboxID  httpx.Optional[string]        `json:"mailbox_id" required:"false"`
}

// Descriptions implements wire.Describer.
func (templatePreviewRequest) Descriptions() map[string]string {
	return map[string]string{
		"template_id": "ID of a stored template; exactly one of template_id and template is required",
		"template":    "Parts of a mail that is not stored",
		"mailbox_id":  "Mailbox whose name and signature are used; default: the first of the organization",
	}
}

// previewSource returns what is to be shown: a stored template, or parts.
func (r *templatePreviewRequest) previewSource() (template *id.ID, parts compose.Source, err error) {
	stored := r.TemplateID.Set && !r.TemplateID.Null
	if stored == (r.Template.Set && !r.Template.Null) {
		return nil, parts, fault.Invalid("template_id", "required",
			"Exactly one of template_id and template is required.")
	}
	if stored {
		template, err = uuidField("template_id", r.TemplateID)
		return template, parts, err
	}

	p := r.Template.Value.toPatch()
	parts, err = p.SourceOf("template/")
	return nil, parts, err
}

// uuidField returns the UUID of a member of a body, or nil if it is absent or null.
func uuidField(name string, in httpx.Optional[string]) (*id.ID, error) {
	if !in.Set || in.Null {
		return nil, nil //nolint:nilnil // absent is no error
	}
	i, err := id.Parse(in.Value)
	if err != nil {
		return nil, fault.Invalid(name, "invalid_uuid", "This is not a UUID.")
	}
	return &i, nil
}

type templatePreview struct{ Body templates.Preview }

func (a *App) previewTemplate(ctx context.Context, in *struct{ Body templatePreviewRequest }) (*templatePreview,
	error,
) {
	template, parts, err := in.Body.previewSource()
	if err != nil {
		return nil, err
	}

	contact, err := id.Parse(in.Body.ContactID)
	if err != nil {
		return nil, fault.Invalid("contact_id", "invalid_uuid", "This is not a UUID.")
	}

	mailbox, err := uuidField("mailbox_id", in.Body.MailboxID)
	if err != nil {
		return nil, err
	}

	s := templates.Service{Box: a.Box, PublicURL: a.PublicURL}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*templatePreview, error) {
		shown, err := s.Preview(ctx, tx, template, parts, contact, mailbox)
		if err != nil {
			return nil, err
		}
		return &templatePreview{*shown}, nil
	})
}
