package api

import (
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
)

type createEmailRequest struct {
	ContactID   httpx.Optional[string] `json:"contact_id" format:"uuid" doc:"The recipient, a live contact"`
	MailboxID   httpx.Optional[string] `json:"mailbox_id" format:"uuid" doc:"Mailbox to send from"`
	TemplateID  httpx.Optional[string] `json:"template_id" required:"false" format:"uuid"`
	Subject     httpx.Optional[string] `json:"subject" required:"false"`
	HTML        httpx.Optional[string] `json:"html" required:"false"`
	Text        httpx.Optional[string] `json:"text" required:"false"`
	InReplyTo   httpx.Optional[string] `json:"in_reply_to_email_id" required:"false" format:"uuid"`
	ScheduledAt httpx.Optional[string] `json:"scheduled_at" required:"false"`
	Purpose     httpx.Optional[string] `json:"purpose" required:"false"`
	Tracking    *emailTracking         `json:"tracking" required:"false"`
	Attachments []emailAttachment      `json:"attachments" required:"false" maxItems:"20"`
}

// Descriptions implements wire.Describer.
func (createEmailRequest) Descriptions() map[string]string {
	return map[string]string{
		"template_id":          "Template of the email; subject, html and text, if given, replace its parts",
		"subject":              "Subject with merge fields, up to 2000 characters; required without template_id",
		"html":                 "HTML with merge fields, up to 512 KiB",
		"text":                 "Text part with merge fields, up to 256 KiB; absent: it is made from the HTML",
		"in_reply_to_email_id": "An email to the same contact that this one answers, in the same thread",
		"scheduled_at":         "When to send it, RFC 3339, at most a year ahead; absent or past: at once",
		"purpose": "personal or marketing; absent: as the sending settings say. A contact that has unsubscribed gets " +
			"no email with the purpose marketing, which also has the headers of an unsubscription by one click",
		"tracking":    "What is tracked of the email; absent: as the mailbox says",
		"attachments": "Files of the email, at most 10 MiB together before their encoding",
	}
}

type emailTracking struct {
	Opens  *bool `json:"opens" required:"false" doc:"Whether opens may be tracked; absent: as the mailbox says"`
	Clicks *bool `json:"clicks" required:"false" doc:"Whether clicks may be tracked; absent: as the mailbox says"`
}

type emailAttachment struct {
	Name    string `json:"name" minLength:"1" maxLength:"200" doc:"Name of the file"`
	Type    string `json:"type" minLength:"1" maxLength:"200" doc:"Media type of the file, such as application/pdf"`
	Content []byte `json:"content" doc:"The file in base64"`
}

// emailRequest is a request for an email that has been validated.
type emailRequest struct {
	contact, mailbox    id.ID
	template, inReplyTo *id.ID
	source              compose.Source
	scheduledAt         *wire.Time
	purpose             string // "": the org's default
	opens, clicks       *bool
	attachments         []compose.Attachment
}

// furthest is how far ahead an email may be scheduled.
const furthest = 366 * 24 * time.Hour

// toRequest validates b.
func (b *createEmailRequest) toRequest(now time.Time) (*emailRequest, error) {
	w := &emailRequest{attachments: attachmentsOf(b.Attachments)}
	f := form.At("")
	var contact, mailbox *id.ID
	form.Missing(f, "contact_id", b.ContactID.Field)
	form.Missing(f, "mailbox_id", b.MailboxID.Field)
	f.ID("contact_id", b.ContactID.Field, &contact)
	f.ID("mailbox_id", b.MailboxID.Field, &mailbox)
	f.ID("template_id", b.TemplateID.Field, &w.template)
	f.ID("in_reply_to_email_id", b.InReplyTo.Field, &w.inReplyTo)
	f.Time("scheduled_at", b.ScheduledAt.Field, &w.scheduledAt)
	f.OneOf("purpose", b.Purpose.Field, &w.purpose, emails.Personal, emails.Marketing)
	if b.ContactID.Null {
		f.Wrong("contact_id", "required", "This field is required.")
	}
	if b.MailboxID.Null {
		f.Wrong("mailbox_id", "required", "This field is required.")
	}
	if w.template == nil && (!b.Subject.Set || b.Subject.Value == "") {
		f.Wrong("subject", "required", "An email without a template needs a subject.")
	}
	if w.scheduledAt != nil && w.scheduledAt.Sub(now) > furthest {
		f.Wrong("scheduled_at", "out_of_range", "An email can be scheduled at most a year ahead.")
	}

	size := 0
	for _, a := range w.attachments {
		size += len(a.Content)
	}

	if size > compose.MaxAttachments {
		f.Wrong("attachments", "too_long", "The files of one email have at most 10 MiB together.")
	}
	if err := f.Fault(); err != nil {
		return nil, err
	}

	w.contact = *contact
	w.mailbox = *mailbox
	if t := b.Tracking; t != nil {
		w.opens = t.Opens
		w.clicks = t.Clicks
	}

	return w, b.readSource(w)
}

// readSource validates the parts of the mail. Those of a template may replace its parts one by one.
func (b *createEmailRequest) readSource(w *emailRequest) error {
	if w.template != nil {
		w.source = compose.Source{Subject: b.Subject.Value, HTML: b.HTML.Value, Text: b.Text.Value}
		return nil
	}
	p := templates.Patch{Subject: b.Subject.Field, HTML: b.HTML.Field, Text: b.Text.Field}
	var err error
	w.source, err = p.SourceOf("")
	return err
}
