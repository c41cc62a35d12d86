package emails

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// content is a row of email_content. With the email's row and the attachments it fixes every byte of the mail.
type content struct {
	fromEmail, fromName, replyTo string
	bounceTo                     string // sender of the envelope; "": fromEmail
	toName                       string
	html, text                   string
	inReplyTo                    string
	refs, listUnsubscribe        []string
	datedAt                      time.Time
	attachments                  int
}

func contentOf(n *New, e *Email) *content {
	c := &content{
		fromEmail: n.Mailbox.FromEmail, fromName: n.Mailbox.FromName, toName: n.ToName, html: n.HTML, text: n.Text,
		refs: []string{}, listUnsubscribe: n.ListUnsubscribe, datedAt: dateHeader(e), attachments: len(n.Attachments),
	}
	if n.Mailbox.ReplyTo != nil {
		c.replyTo = *n.Mailbox.ReplyTo
	}
	if c.listUnsubscribe == nil {
		c.listUnsubscribe = []string{}
	}
	return c
}

// addUnsubscribeAddress adds the address that ends mails to the recipient to the links that do, for the mail programs
// that know no others (RFC 2369). What comes there with this subject is read as a request.
func (c *content) addUnsubscribeAddress() {
	if len(c.listUnsubscribe) == 0 {
		return
	}
	to := url.URL{
		Scheme: "mailto", Opaque: url.PathEscape(cmp.Or(c.replyTo, c.fromEmail)), RawQuery: "subject=unsubscribe",
	}
	c.listUnsubscribe = append(slices.Clone(c.listUnsubscribe), to.String())
}

// composedMail returns the mail that e and c describe.
func (c *content) composedMail(e *Email, attachments []compose.Attachment) *compose.Mail {
	return &compose.Mail{
		MessageID: e.MessageID, Date: c.datedAt,
		From: mail.Address{Name: c.fromName, Address: c.fromEmail}, To: mail.Address{Name: c.toName, Address: e.To},
		ReplyTo: mail.Address{Address: c.replyTo}, Subject: e.Subject, HTML: c.html, Text: c.text,
		InReplyTo: c.inReplyTo, References: c.refs, ListUnsubscribe: c.listUnsubscribe, Attachments: attachments,
	}
}

// asShown returns what the API shows of c.
func (c *content) asShown(attachments []compose.Attachment) *Content {
	out := &Content{From: c.fromEmail, Attachments: []AttachmentSummary{}}
	if c.html != "" {
		out.HTML = &c.html
	}
	if c.text != "" {
		out.Text = &c.text
	}
	for _, a := range attachments {
		out.Attachments = append(out.Attachments, AttachmentSummary{a.Name, a.Type, len(a.Content)})
	}
	return out
}

// badContent returns the fault of a mail that cannot be written.
func badContent(err error) error {
	if a, ok := errors.AsType[*compose.AddressError](err); ok {
		field := "mailbox_id"
		if a.Header == "To" {
			field = "contact_id"
		}
		return fault.Invalid(field, "invalid_address", "The mail cannot be addressed: "+a.Msg+".").Because(err)
	}
	if errors.Is(err, compose.ErrAttachments) {
		return fault.Invalid("attachments", "too_long", "The files of one email have at most 10 MiB together.")
	}
	return fmt.Errorf("write mail: %w", err)
}

const contentColumns = `c.from_email, c.from_name, c.reply_to, c.to_name, c.html, c.text, c.in_reply_to, c.refs,
	c.list_unsubscribe, c.dated_at, c.attachments, c.bounce_to`

func (c *content) targets() []any {
	return []any{
		&c.fromEmail, &c.fromName, &c.replyTo, &c.toName, &c.html, &c.text, &c.inReplyTo, &c.refs, &c.listUnsubscribe,
		&c.datedAt, &c.attachments, &c.bounceTo,
	}
}

// queueContent queues the read of an email's content into c. c stays nil if the content was swept.
func queueContent(tx *postgres.Tx, email id.ID, c **content) {
	tx.Queue(`SELECT `+contentColumns+` FROM email_content c WHERE org_id = $1 AND email_id = $2`, tx.Org(), email).
		QueryRow(func(row pgx.Row) error {
			found := &content{}
			err := row.Scan(found.targets()...)
			if err == nil {
				*c = found
			}
			if postgres.None(err) {
				return nil
			}
			return err
		})
}

func readAttachments(ctx context.Context, tx *postgres.Tx, email id.ID) ([]compose.Attachment, error) {
	rows, err := tx.Query(ctx, `SELECT name, type, content FROM email_attachment
		WHERE org_id = $1 AND email_id = $2 ORDER BY n`, tx.Org(), email)
	if err != nil {
		return nil, fmt.Errorf("read attachments: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[compose.Attachment])
	if err != nil {
		return nil, fmt.Errorf("read attachments: %w", err)
	}
	return all, nil
}
