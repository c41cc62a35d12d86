package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

const (
	emailsPath = "/api/v1/crm/emails"
	// emailBytes is the maximum size of a request with the files of an email, which are sent as base64.
	emailBytes = 16 << 20
)

func (a *App) mountEmails() {
	const tag, one = "Emails", emailsPath + "/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "emails.create",
		Method: http.MethodPost, Path: emailsPath, Need: httpx.Member, Tag: tag, Title: "Send an email to a contact",
		Status: http.StatusCreated, Writes: []string{emailsend.Kind.Name(), quotaannounce.Kind.Name()},
		MaxBody: emailBytes, May: []int{http.StatusPaymentRequired, http.StatusConflict},
	}, a.createEmail)
	httpx.Route(a.Server, httpx.Op{
		ID:     "emails.list",
		Method: http.MethodGet, Path: emailsPath, Need: httpx.Viewer, Tag: tag, Title: "List emails, newest first",
	}, a.listEmails)
	httpx.Route(a.Server, httpx.Op{
		ID:     "emails.get",
		Method: http.MethodGet, Path: one, Need: httpx.Viewer, Tag: tag, Title: "Get an email with its content",
	}, a.getEmail)
	httpx.Route(a.Server, httpx.Op{
		ID:     "emails.cancel",
		Method: http.MethodPost, Path: one + "/cancel", Need: httpx.Member, Tag: tag,
		Title: "Cancel an email that is not transmitted yet", May: []int{http.StatusConflict},
	}, a.cancelEmail)
	httpx.Route(a.Server, httpx.Op{
		ID:     "emails.resolve",
		Method: http.MethodPost, Path: one + "/resolve", Need: httpx.Member, Tag: tag,
		Title:  "Settle an email whose fate is unknown",
		Writes: []string{"email.sent", "email.failed"}, May: []int{http.StatusConflict},
	}, a.resolveEmail)
}

// shownEmail is an email with its content.
type shownEmail struct {
	emails.Email
	From        *string                    `json:"from" doc:"Address of the sender; null once the content was deleted"`
	HTML        *string                    `json:"html" doc:"HTML part; null: none, or the content was deleted"`
	Text        *string                    `json:"text" doc:"Text part; null: none, or the content was deleted"`
	Attachments []emails.AttachmentSummary `json:"attachments" doc:"Files of the email"`
}

type emailAnswer struct {
	httpx.Tagged
	Body shownEmail
}

type emailCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the email"`
	Body     shownEmail
}

type emailList struct{ Body httpx.List[emails.Email] }

func showEmail(f *emails.Full) shownEmail {
	out := shownEmail{Email: f.Email, Attachments: []emails.AttachmentSummary{}}
	if c := f.Content; c != nil {
		out.From = &c.From
		out.HTML = c.HTML
		out.Text = c.Text
		out.Attachments = c.Attachments
	}
	return out
}

func answerEmail(f *emails.Full) *emailAnswer {
	return &emailAnswer{Tagged: httpx.ETag(f.Edit, f.Computed), Body: showEmail(f)}
}

// callerName returns the caller as rows name it, such as user/<id>.
func callerName(ctx context.Context) string {
	kind, ident := httpx.Who(ctx).Actor()
	return kind + "/" + ident
}

func (a *App) createEmail(ctx context.Context, in *recordNew[createEmailRequest]) (*emailCreated, error) {
	w, err := in.Body.toRequest(time.Now())
	if err != nil {
		return nil, err
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*emailCreated, error) {
		full, err := a.writeEmail(ctx, tx, w)
		if err != nil {
			return nil, err
		}

		how := []queue.Adding{queue.ConcurrencyKey(full.MailboxID)}
		if full.ScheduledAt != nil {
			how = append(how, queue.At(full.ScheduledAt.Time))
		}
		if err := emailsend.Kind.Add(ctx, tx, emailsend.Args{Email: full.ID}, how...); err != nil {
			return nil, err
		}

		return &emailCreated{
			Tagged: httpx.ETag(full.Edit, full.Computed), Location: emailsPath + "/" + full.ID.String(),
			Body: showEmail(full),
		}, nil
	})
}

// writeEmail renders and inserts the email.
func (a *App) writeEmail(ctx context.Context, tx *postgres.Tx, w *emailRequest) (*emails.Full, error) {
	m, err := a.Emails.Mailboxes.ForSending(ctx, tx, w.mailbox)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid("mailbox_id", "unknown_mailbox", "There is no such mailbox.")
	}
	if err != nil {
		return nil, err
	}

	room, err := a.Plans.EmailRoom(ctx, tx)
	if err != nil {
		return nil, err
	}
	if room.Left < 1 {
		return nil, room.Full
	}

	if w.purpose == "" {
		set, err := orgsending.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		w.purpose = set.DefaultPurpose
	}

	n := &emails.New{
		ID: id.New(), Mailbox: m, ContactID: w.contact, Purpose: w.purpose, InReplyTo: w.inReplyTo,
		ScheduledAt: w.scheduledAt, Attachments: w.attachments, By: callerName(ctx),
		Tracking: emails.Tracking{Opens: orMailbox(w.opens, m.TrackOpens), Clicks: orMailbox(w.clicks, m.TrackClicks)},
	}
	if n.LinkBase, err = orgsending.LinkBase(ctx, tx, a.Deps.PublicURL); err != nil {
		return nil, err
	}

	renderer := &templates.Service{Box: a.Box, PublicURL: n.LinkBase}
	mail, err := renderer.Render(ctx, tx, &templates.Mail{
		Template: w.template, Source: w.source, Contact: w.contact, Email: n.ID,
		Sender: templates.Sender{Name: m.FromName, SignatureHTML: m.SignatureHTML},
	})
	if err != nil {
		return nil, templates.Fault(err)
	}
	if strings.TrimSpace(mail.Subject) == "" {
		return nil, fault.Invalid("subject", "required", "This field is required.")
	}

	n.Subject = mail.Subject
	n.HTML = mail.HTML
	n.Text = mail.Text
	if n.Purpose == emails.Marketing {
		n.ListUnsubscribe = []string{mail.UnsubscribeURL}
	}

	row, err := contacts.Get(ctx, tx, w.contact, false)
	if err != nil {
		return nil, err
	}

	n.ToEmail = row.Email
	n.ToName = strings.TrimSpace(row.FirstName + " " + row.LastName)

	return a.Emails.Create(ctx, tx, n)
}

// orMailbox returns what the request says about tracking, or else the mailbox's setting.
func orMailbox(given *bool, otherwise bool) bool {
	if given != nil {
		return *given
	}
	return otherwise
}

type emailQuery struct {
	httpx.PageInput
	Status      string    `query:"status" doc:"Only emails with one of these statuses, separated by commas"`
	ContactID   string    `query:"contact_id" format:"uuid" doc:"Only emails to this contact"`
	MailboxID   string    `query:"mailbox_id" format:"uuid" doc:"Only emails from this mailbox"`
	EnrolmentID string    `query:"enrolment_id" format:"uuid" doc:"Only emails of this enrolment"`
	BroadcastID string    `query:"broadcast_id" format:"uuid" doc:"Only emails of this broadcast"`
	SentAfter   time.Time `query:"sent_after" doc:"Only emails sent after this time (RFC 3339), exclusive"`
	SentBefore  time.Time `query:"sent_before" doc:"Only emails sent before this time (RFC 3339), exclusive"`
}

func (q *emailQuery) toFilter() (*emails.Filter, error) {
	f := &emails.Filter{SentAfter: q.SentAfter, SentBefore: q.SentBefore}
	if q.Status != "" {
		f.Status = strings.Split(q.Status, ",")
	}

	for _, s := range f.Status {
		if !emails.IsStatus(s) {
			return nil, fault.Parameter("status", "invalid_choice",
				fault.Choices("There is no such status.", s, emails.Statuses()))
		}
	}

	for name, p := range map[string]struct {
		given string
		at    **id.ID
	}{
		"contact_id": {q.ContactID, &f.Contact}, "mailbox_id": {q.MailboxID, &f.Mailbox},
		"enrolment_id": {q.EnrolmentID, &f.Enrolment}, "broadcast_id": {q.BroadcastID, &f.Broadcast},
	} {
		var err error
		if *p.at, err = uuidParameter(name, p.given); err != nil {
			return nil, err
		}
	}

	return f, nil
}

func (a *App) listEmails(ctx context.Context, in *emailQuery) (*emailList, error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*emailList, error) {
		rows, err := emails.List(ctx, tx, f, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows, func(r emails.Row) emails.Email { return r.Email },
			func(r emails.Row) id.ID { return r.ID })
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return emails.Count(ctx, tx, f)
			})
		}

		return &emailList{l}, err
	})
}

func (a *App) getEmail(ctx context.Context, in *RecordID) (*emailAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*emailAnswer, error) {
		full, err := emails.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return answerEmail(full), nil
	})
}

func (a *App) cancelEmail(ctx context.Context, in *RecordID) (*emailAnswer, error) {
	return a.changeEmail(ctx, func(tx *postgres.Tx) (emails.Row, error) { return emails.Cancel(ctx, tx, in.ID) })
}

// changeEmail answers with the email that change has changed.
func (a *App) changeEmail(ctx context.Context, change func(*postgres.Tx) (emails.Row, error)) (*emailAnswer, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*emailAnswer, error) {
		r, err := change(tx)
		if err != nil {
			return nil, err
		}
		full, err := emails.WithContent(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		return answerEmail(full), nil
	})
}

type resolveEmailRequest struct {
	Outcome string `json:"outcome" enum:"sent,not_sent"`
}

// Descriptions implements wire.Describer.
func (resolveEmailRequest) Descriptions() map[string]string {
	return map[string]string{"outcome": "What is known of the mail. After not_sent the email has failed"}
}

func (a *App) resolveEmail(ctx context.Context, in *struct {
	RecordID
	Body resolveEmailRequest
},
) (*emailAnswer, error) {
	return a.changeEmail(ctx, func(tx *postgres.Tx) (emails.Row, error) {
		return a.Emails.Resolve(ctx, tx, in.ID, in.Body.Outcome == emails.Sent, callerName(ctx))
	})
}

// attachmentsOf returns the files of a request.
func attachmentsOf(all []emailAttachment) []compose.Attachment {
	out := make([]compose.Attachment, len(all))
	for i, f := range all {
		out[i] = compose.Attachment{Name: f.Name, Type: f.Type, Content: f.Content}
	}
	return out
}
